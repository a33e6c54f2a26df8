"""
Greedy paths
============

How far do a few well-chosen columns go, when should the choosing stop, and what does the greedy rule miss?
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.select import AdaBoost, BestSubset, GreedySelector, OrthogonalMatchingPursuit

# %%
# Two rules
# ---------
# Thirty columns that share five hidden causes, so that many of them say nearly the same. Orthogonal least squares
# asks how far the error will fall; orthogonal matching pursuit asks which column resembles what is left. The best
# subsets of each size, found by branch and bound, show what is possible.

rng = np.random.default_rng(0)
causes = rng.normal(size=(300, 5))
X = causes @ rng.normal(size=(5, 30)) + 0.3 * rng.normal(size=(300, 30))
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
# The error on the rows learned from falls with every column. On folds that neither the fit nor the *selection* has
# seen it turns; the information criterion charges for weights and turns nearby.

X = rng.normal(size=(200, 60))
y = X[:, :5] @ [3.0, 2.0, 1.5, 1.0, 0.5] + 2.0 * rng.normal(size=200)
folds = GreedySelector(k=30, stop="folds").fit(X, y)
bic = GreedySelector(k=30, stop="bic").fit(X, y)

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
steps = np.arange(1, 31)
ax.plot(steps, folds.path_.risk, label="on the rows learned from")
ax.plot(steps, folds.path_.score, label="on folds left out")
ax.axvline(folds.n_steps_, color="C1", linestyle=":", label=f"folds stop at {folds.n_steps_}")
ax.axvline(bic.n_steps_, color="black", linestyle=":", label=f"BIC stops at {bic.n_steps_}")
ax.set(xlabel="columns chosen", ylabel="mean squared error", title="Five of sixty columns matter")
ax.legend()

# %%
# Boosting is greedy too
# ----------------------
# AdaBoost takes thresholds on columns one at a time and moves one weight at a time. The product of its rounds'
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
ax.set(xlabel="rounds", title="AdaBoost keeps its promise", ylim=(0, 1))
ax.legend()
plt.show()
