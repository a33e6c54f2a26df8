r"""
Black holes: similarity as a feature
====================================

Add one feature to the two coordinates of the plane, a bump around a landmark,

.. math:: \varphi(x) = \bigl(x_1, x_2, e^{-\|x - c\|^2 / (2 \sigma^2)}\bigr) ,

and the points near the landmark rise out of the plane. A horizontal plane then cuts them off. With several landmarks
each weight says how much its neighborhood speaks for a class.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import HingeClassifier, Landmarks
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)

# %%
# One landmark
# ------------
# The classes are a disc and its surroundings. In the plane no line separates them; with the third feature a plane does.

X = rng.uniform(-2.0, 2.0, size=(400, 2))
center = np.array([0.5, 0.3])
y = np.linalg.norm(X - center, axis=1) < 0.8
bump = Landmarks(kernel=Gaussian(0.7), landmarks=center[None], whiten=False).fit(X)
Z = np.column_stack([X, bump.transform(X)])
plain, lifted = HingeClassifier(0.01).fit(X, y), HingeClassifier(0.01).fit(Z, y)

fig = plt.figure(figsize=(9, 3.8), layout="constrained")
ax = fig.add_subplot(1, 2, 1)
ax.scatter(*X.T, c=y, cmap="RdBu_r", s=12)
ax.set(title=f"two coordinates: {plain.score(X, y):.0%} correct", xticks=[], yticks=[], aspect="equal")
ax = fig.add_subplot(1, 2, 2, projection="3d")
ax.scatter(*Z.T, c=y, cmap="RdBu_r", s=10)
a, b, c = lifted.coef_[0]
corners = np.meshgrid([-2.0, 2.0], [-2.0, 2.0])
ax.plot_surface(*corners, -(a * corners[0] + b * corners[1] + lifted.intercept_[0]) / c, alpha=0.3, color="black")
ax.set(title=f"with the bump: {lifted.score(Z, y):.0%} correct", zlim=(0, 1), xticks=[], yticks=[])

# %%
# Three landmarks, one hyperplane
# -------------------------------
# Landmarks in the south-west, north and east give three features. *Find a hyperplane that predicts the first class
# only near the north landmark*, the notes ask. The weights (0, 1, 0) with the intercept -0.5 do it: the score is
# positive where the similarity to the north landmark exceeds one half. Other weights give other regions, and every
# one of them is a plane in the space of the three similarities.

landmarks = np.array([[-1.2, -0.9], [0.0, 1.2], [1.3, -0.2]])
near = Landmarks(kernel=Gaussian(0.8), landmarks=landmarks, whiten=False).fit(landmarks)
grid = np.meshgrid(np.linspace(-2.5, 2.5, 180), np.linspace(-2.2, 2.4, 160))
similarities = near.transform(np.column_stack([axis.ravel() for axis in grid]))
RULES = {
    "only the north: (0, 1, 0), -0.5": ((0, 1, 0), -0.5),
    "north and east, not south-west: (-1, 1, 1), -0.1": ((-1, 1, 1), -0.1),
    "all but the south-west: (-1, 0, 0), +0.3": ((-1, 0, 0), 0.3),
}
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
for ax, (title, (weights, intercept)) in zip(axes, RULES.items(), strict=True):
    score = (similarities @ np.array(weights, dtype=float) + intercept).reshape(grid[0].shape)
    ax.contourf(*grid, score, levels=[-9, 0, 9], colors=["#cfe0f3", "#f6cfc4"])
    ax.contour(*grid, score, levels=[0.0], colors="black")
    ax.scatter(*landmarks.T, marker="*", s=120, color="black")
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    ax.title.set_fontsize(9)
plt.show()
