"""
Greedy paths
============

How accurate is a model on a few selected columns, when should selection stop, and what does a greedy rule miss?
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.select import AdaBoost, BestSubset, GreedySelector, OrthogonalMatchingPursuit

# %%
# Two rules
# ---------
# Thirty columns share five latent factors, so many of them are nearly collinear. Orthogonal least squares selects the
# column that lowers the error most; orthogonal matching pursuit selects the one most correlated with the residual. The
# best subset of each size, found by branch and bound, shows what is possible.

rng = np.random.default_rng(0)
factors = rng.normal(size=(300, 5))
X = factors @ rng.normal(size=(5, 30)) + 0.3 * rng.normal(size=(300, 30))
y = X[:, :6] @ rng.normal(size=6) + 0.5 * rng.normal(size=300)

sizes = np.arange(1, 9)
greedy = GreedySelector(k=8).fit(X, y)
pursuit = OrthogonalMatchingPursuit(k=8).fit(X, y)
exact = [BestSubset(k).fit(X, y).risk_ for k in sizes]

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(sizes, pursuit.path_.risk, "s-", label="orthogonal matching pursuit")
ax.plot(sizes, greedy.path_.risk, "o-", label="orthogonal least squares")
ax.plot(sizes, exact, "k.--", label="best subset")
ax.set(xlabel="columns", ylabel="mean squared error", yscale="log", title="Correlated columns separate the rules")
ax.legend()

# %%
# When to stop
# ------------
# The training error falls with every column. The error on held-out folds, which took part neither in the fit nor in the
# *selection*, has a minimum. The Bayesian information criterion penalizes the number of columns; its minimum is nearby.

X = rng.normal(size=(200, 60))
y = X[:, :5] @ [3.0, 2.0, 1.5, 1.0, 0.5] + 2.0 * rng.normal(size=200)
folds = GreedySelector(k=30, stop="folds").fit(X, y)
bic = GreedySelector(k=30, stop="bic").fit(X, y)

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
steps = np.arange(1, 31)
ax.plot(steps, folds.path_.risk, label="training rows")
ax.plot(steps, folds.path_.score, label="held-out folds")
ax.axvline(folds.n_steps_, color="C1", linestyle=":", label=f"folds stop at {folds.n_steps_}")
ax.axvline(bic.n_steps_, color="black", linestyle=":", label=f"BIC stops at {bic.n_steps_}")
ax.set(xlabel="selected columns", ylabel="mean squared error", title="Five of sixty columns matter")
ax.legend()

# %%
# Boosting is greedy too
# ----------------------
# AdaBoost selects one decision stump at a time and changes one weight at a time. The product of its rounds'
# factors bounds the fraction of training errors from above, round by round.

X = rng.normal(size=(600, 10))
y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=600) > 1, "inside", "outside")
model = AdaBoost(n_rounds=60).fit(X, y)
features = model.transform(X)
sign = np.where(y == model.classes_[1], 1, -1)
scores = np.zeros(len(y))
errors = []
for pick, step in zip(model.feature_indices_, model.steps_, strict=True):
    scores += step * (features[:, pick] if pick >= 0 else 1.0)
    errors.append(np.mean(sign * scores <= 0))

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(model.bounds_, label=r"bound $\prod 2\sqrt{\varepsilon(1-\varepsilon)}$")
ax.plot(errors, label="training errors")
ax.set(xlabel="rounds", title="The bound of AdaBoost", ylim=(0, 1))
ax.legend()
plt.show()
