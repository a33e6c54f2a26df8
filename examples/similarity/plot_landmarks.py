"""
Similarity to landmarks
=======================

The similarities of a row to a few landmarks are features, and a linear model on them is a kernel machine. Which rows
should be landmarks?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import mercer
from mercer.kernels import Gaussian

# %%
# A picture of the features
# -------------------------
# Two moons and nine landmarks. Each feature is a bump around its landmark; a linear model is a weighted sum of bumps.

X, y = make_moons(300, noise=0.1, random_state=0)
bumps = mercer.Landmarks(9, Gaussian(0.4), whiten=False).fit(X)
model = mercer.RidgeClassifier().fit(bumps.transform(X), y)
grid = np.meshgrid(np.linspace(-1.5, 2.5, 160), np.linspace(-1, 1.5, 100))
plane = np.column_stack([axis.ravel() for axis in grid])


def draw(ax, score, title):
    ax.contourf(*grid, score.reshape(grid[0].shape), levels=20, cmap="RdBu_r", alpha=0.6, extend="both")
    ax.contour(*grid, score.reshape(grid[0].shape), levels=[0], colors="black")
    ax.scatter(*X.T, c=y, cmap="RdBu_r", s=8)
    ax.set(title=title, xticks=[], yticks=[])


fig, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
axes[0].contour(*grid, bumps.transform(plane)[:, 0].reshape(grid[0].shape), cmap="viridis")
axes[0].scatter(*X.T, color="lightgray", s=8)
axes[0].scatter(*bumps.landmarks_.T, color="black", marker="*", s=90)
axes[0].set(title="landmarks, and similarity to the first", xticks=[], yticks=[])
draw(
    axes[1],
    model.decision_function(bumps.transform(plane)),
    f"weighted sum of nine bumps: {np.mean(model.predict(bumps.transform(X)) == y):.2f}",
)

# %%
# Choosing rows where the residual is large
# -----------------------------------------
# One large cluster and twenty small ones. Most uniform landmarks fall into the large one; randomly pivoted Cholesky
# draws each landmark with probability proportional to the residual of the kernel given the previous ones.

rng = np.random.default_rng(0)
centers = rng.uniform(-10, 10, size=(20, 2))
small = centers[rng.integers(20, size=100)] + 0.15 * rng.normal(size=(100, 2))
C = np.vstack([0.5 * rng.normal(size=(1900, 2)), small])
fig, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
counts = np.arange(1, 61)
for ax, choose in zip(axes, ("uniform", "rpcholesky"), strict=False):
    chosen = mercer.Landmarks(30, Gaussian(1.0), choose=choose).fit(C)
    ax.scatter(*C.T, color="lightgray", s=6)
    ax.scatter(*chosen.landmarks_.T, color="crimson", marker="*", s=60)
    ax.set(title=f"30 landmarks, {choose}", xticks=[], yticks=[])
    left = [
        np.mean(
            [mercer.Landmarks(int(m), Gaussian(1.0), choose, random_state=s).fit(C).residual(C).mean() for s in (0, 1)]
        )
        for m in counts[::4]
    ]
    axes[2].semilogy(counts[::4], left, "o-", label=choose)
axes[2].set(xlabel="landmarks", title="fraction of the trace unexplained")
axes[2].legend()
plt.show()
