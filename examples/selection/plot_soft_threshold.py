r"""
The soft threshold
==================

With one standardized column, the Lasso minimizes

.. math:: \tfrac{1}{2} (w - c)^2 + \lambda |w| , \qquad c = \langle x, y\rangle / n ,

and the minimum is the soft threshold :math:`w = \mathrm{sign}(c) \max(|c| - \lambda, 0)`: exactly zero until the
column correlates with the target by more than :math:`\lambda`. A squared penalty only shrinks, :math:`w = c/(1 +
2\lambda)`, and never gives zero. This is why one selects columns and the other does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.select import Lasso, lasso_path

# %%
# Where the kink holds the minimum
# --------------------------------
# Three correlations and the same penalty. At :math:`c = 0.3` the minimum stays at the kink, at 0.9 it has left it.

penalty, w = 0.5, np.linspace(-0.5, 1.2, 400)
fig, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for c, color in ((0.3, "#8a8a8a"), (0.5, "#1763b6"), (0.9, "#c03a2b")):
    value = 0.5 * (w - c) ** 2 + penalty * np.abs(w)
    best = np.sign(c) * max(abs(c) - penalty, 0)
    axes[0].plot(w, value, color=color, label=f"c = {c:g}, minimum at {best:g}")
    axes[0].plot(best, 0.5 * (best - c) ** 2 + penalty * abs(best), "o", color=color)
axes[0].set(xlabel="w", title="objective with λ = 0.5")
axes[0].legend(fontsize=8)
c = np.linspace(-1.5, 1.5, 300)
axes[1].plot(c, c, ":", color="gray", label="least squares")
axes[1].plot(c, np.sign(c) * np.maximum(np.abs(c) - penalty, 0), color="#1763b6", label="absolute penalty")
axes[1].plot(c, c / (1 + 2 * penalty), color="#c03a2b", label="squared penalty")
axes[1].set(xlabel="correlation c", ylabel="weight", title="the weight as a function of the correlation")
axes[1].legend(fontsize=8)

# %%
# The formula and the solver
# --------------------------
# `Lasso` on one standardized column gives the formula to the last digits.

rng = np.random.default_rng(0)
x = rng.normal(size=500)
x = (x - x.mean()) / x.std()
y = 0.9 * x + 0.5 * rng.normal(size=500)
c = x @ (y - y.mean()) / len(y)
for penalty in (0.1, 0.5, 0.95):
    found = Lasso(alpha=penalty).fit(x[:, None], y).coef_[0]
    print(f"lambda {penalty:.2f}: formula {np.sign(c) * max(abs(c) - penalty, 0):.6f}, Lasso {found:.6f}")

# %%
# Many columns: the path
# ----------------------
# Three of twenty columns matter. From right to left the penalty falls and columns enter one by one, those that matter
# first. Every column is thresholded, given all others.

X = rng.normal(size=(200, 20))
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = X[:, :3] @ np.array([1.5, -1.0, 0.6]) + 0.5 * rng.normal(size=200)
alphas = np.geomspace(1.6, 0.01, 60)
coefs = np.asarray(lasso_path(X, y, alphas=alphas))
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.semilogx(alphas, coefs[:, 3:], color="lightgray", linewidth=0.8)
ax.semilogx(alphas, coefs[:, :3], linewidth=2, label=["column 1", "column 2", "column 3"])
ax.set(xlabel="penalty $\\lambda$", ylabel="weight", title="The path of the Lasso")
ax.legend()
plt.show()
