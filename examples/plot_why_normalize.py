"""
Why normalize?
==============

A linear model with a penalty cares about the scale of its features. Two small examples, after the notes on
feature manipulation (with y and the noise equal to +1 or -1): in the first, the better of two features is
dropped because it is small; in the second, one feature is useless because a few of its values are large. One
line repairs each.
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
# The first feature is y plus noise, the second is y itself, but ten thousand times smaller. The perfect
# predictor needs the weight 10,000, for which a penalty of strength s charges s * 10^8. So ridge regression
# leaves it out and keeps the error 0.2 of the noisy feature, unless s is below about 1e-8. Standardized, both
# features cost the same.

y = signs()
X = np.stack([y + signs() / 2, 1e-4 * y], axis=1)
strengths = np.logspace(-6, 0, 13)
raw = [squared_error(RidgeRegressor(alpha=s * m), X, y) for s in strengths]
normalized = [squared_error(make_pipeline(Standardize(), RidgeRegressor(alpha=s * m)), X, y) for s in strengths]
print(f"strength 0.01: error {raw[8]:.4f} on raw features, {normalized[8]:.6f} on standardized ones")

# %%
# A heavy tail
# ------------
# The feature is y, except that one value in a is a times too large. The best weight is about 2/a and the
# error tends to 1, that of predicting nothing. Clipping at 1 (values beyond mean nothing more) makes the
# feature perfect again.

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
right.set(xlabel="size a of one value in a", title="A heavy tail")
for axes in (left, right):
    axes.legend()
plt.show()
