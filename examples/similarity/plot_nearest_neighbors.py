r"""
The nearest-neighbor limit
==========================

A kernel machine predicts the sign of :math:`f(x) = \sum_i \alpha_i\, k(x, x_i)`. For a tiny bandwidth the term of the
closest row dominates all others, so the prediction is the label of the nearest neighbor. For a large one it is a
global average.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer.kernels import Gaussian
from mercer.machines import KernelRegressor

X, y = make_moons(200, noise=0.3, random_state=0)
X_new, y_new = make_moons(1000, noise=0.3, random_state=1)
labels = np.where(y == 1, 1.0, -1.0)
grid = np.meshgrid(np.linspace(-2.0, 3.0, 120), np.linspace(-1.6, 2.0, 90))
plane = np.column_stack([axis.ravel() for axis in grid])


def nearest(rows):
    return labels[((rows[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)]


# %%
# Four bandwidths and the limit
# -----------------------------
# Kernel least squares on the labels. At :math:`\sigma = 0.05` almost every point of the plane gets the label of its
# nearest neighbor; the noise of single rows is copied. From left to right the boundary becomes smooth, then too
# stiff.

fig, axes = plt.subplots(1, 5, figsize=(14, 2.6), layout="constrained")
for ax, sigma in zip(axes, (None, 0.05, 0.3, 0.8, 3.0), strict=True):
    if sigma is None:
        score, title = nearest(plane), "nearest neighbor"
    else:
        score = KernelRegressor(Gaussian(sigma), alpha=0.1).fit(X, labels).predict(plane)
        title = f"σ = {sigma:g}: {np.mean(np.sign(score) == nearest(plane)):.0%} as 1-NN"
    ax.contourf(*grid, np.sign(score).reshape(grid[0].shape), levels=[-1.5, -0.5, 0.5, 1.5], cmap="RdBu_r", alpha=0.4)
    ax.scatter(*X.T, c=y, cmap="RdBu_r", s=6)
    ax.set(title=title, xticks=[], yticks=[])

# %%
# Agreement, error, and where numbers end
# ---------------------------------------
# The sign follows the nearest neighbor, the value does not: between the rows :math:`f(x)` tends to zero. In floating
# point it *is* zero beyond 38.6 bandwidths (14.4 in single precision), and a machine then has no opinion. The gray
# curve counts the points of the plane where that happens; the agreement breaks down with it.

sigmas = np.geomspace(0.003, 5.0, 17)
agree, error, silent = [], [], []
for sigma in sigmas:
    machine = KernelRegressor(Gaussian(sigma), alpha=0.1).fit(X, labels)
    score = machine.predict(plane)
    agree.append(np.mean(np.sign(score) == nearest(plane)))
    silent.append(np.mean(score == 0))
    error.append(np.mean(np.sign(machine.predict(X_new)) != np.where(y_new == 1, 1, -1)))
of_nearest = np.mean(nearest(X_new) != np.where(y_new == 1, 1, -1))
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.semilogx(sigmas, agree, label="points that agree with 1-NN")
ax.semilogx(sigmas, error, label="error on new rows")
ax.semilogx(sigmas, silent, color="gray", label="points where f(x) is exactly 0")
ax.axhline(of_nearest, linestyle=":", color="black", label=f"error of 1-NN ({of_nearest:.1%})")
ax.set(xlabel="bandwidth σ", ylim=(0, 1.02), title="From the nearest neighbor to a smooth rule")
ax.legend(fontsize=8)
best = sigmas[np.argmin(error)]
print(f"1-NN errs on {of_nearest:.1%} of new rows, the best bandwidth ({best:.2g}) on {min(error):.1%}")
plt.show()
