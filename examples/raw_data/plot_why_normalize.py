"""
Why normalize?
==============

A penalized linear model depends on the scale of its features. In the first of two small examples, the better of two
features is ignored because its values are small. In the second, a feature is useless because a few of its values are
large. One line of code repairs each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from mercer.linear import RidgeRegressor
from mercer.normalize import Clip, Standardize

rng = np.random.default_rng(0)
m = 4000


def signs():
    return rng.permutation(np.repeat([-1.0, 1.0], m // 2))


def squared_error(model, X, y):
    return np.mean((model.fit(X, y).predict(X) - y) ** 2)


# %%
# Features of different scale
# ---------------------------
# The first feature is y plus noise, the second is y divided by ten thousand. The perfect predictor needs the weight
# 10,000, and a penalty of strength s adds s * 10^8 to its loss. Ridge regression therefore uses the noisy feature, with
# error 0.2, unless s is below about 1e-8. After standardization both features are penalized alike.

y = signs()
X = np.stack([y + signs() / 2, 1e-4 * y], axis=1)
strengths = np.logspace(-6, 0, 13)
raw = [squared_error(RidgeRegressor(alpha=s * m), X, y) for s in strengths]
normalized = [squared_error(make_pipeline(Standardize(), RidgeRegressor(alpha=s * m)), X, y) for s in strengths]
print(f"strength 0.01: error {raw[8]:.4f} on raw features, {normalized[8]:.6f} on standardized ones")

# %%
# A heavy tail
# ------------
# The feature is y, except that one of a values is a times too large. The best weight is about 2/a, and the error tends
# to 1, that of the prediction 0. Clipping at 1 makes the feature perfect again.

tails = np.array([2, 5, 10, 20, 50, 100, 200, 500, 1000])
errors = {"raw": [], "clipped at 1": [], "clipped at a learned bound": []}
for a in tails:
    x = np.where(np.arange(m) < m / a, a * y, y)[:, None]
    ridge = RidgeRegressor(alpha=1e-3 * m)
    errors["raw"].append(squared_error(ridge, x, y))
    errors["clipped at 1"].append(squared_error(make_pipeline(Clip(bound=1.0), ridge), x, y))
    errors["clipped at a learned bound"].append(squared_error(make_pipeline(Clip(), ridge), x, y))
print(f"a = 1000: error {errors['raw'][-1]:.4f} raw, {errors['clipped at 1'][-1]:.6f} clipped")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.loglog(strengths, raw, "o-", label="raw")
left.loglog(strengths, normalized, "s-", label="standardized")
left.set(xlabel="strength of the penalty", ylabel="squared error", title="Features of different scale")
for (label, error), marker in zip(errors.items(), "os^", strict=True):
    right.semilogx(tails, error, marker + "-", label=label)
right.set(xlabel="a: one of a values is a times too large", title="A heavy tail")
for axes in (left, right):
    axes.legend()
plt.show()
