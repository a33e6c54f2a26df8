r"""
Ordinary and special updates of a kernel machine
================================================

A linear model on features :math:`\varphi(x)` can be trained by updating its weights w (the *ordinary*, primal update),
or by updating one coefficient per training row (the *special*, dual update), :math:`w = \sum_i a_i \varphi(x_i)`. Both
give the same predictions after every step. The ordinary update of weights of the *similarities* themselves is a third
method, with other predictions. This example shows all three for the perceptron, and the first two for the hinge loss.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.kernels import Polynomial
from mercer.machines import KernelHinge

rng = np.random.default_rng(0)
n = 200
X = rng.normal(size=(n, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 0] > 0.2, 1.0, -1.0)

# %%
# The features of the kernel
# --------------------------
# :math:`(1 + \langle x, z \rangle)^2` is an inner product of six features in the plane.

r = np.sqrt(2)
A = np.column_stack([np.ones(n), r * X, X**2, r * X[:, 0] * X[:, 1]])
K = Polynomial(2)(X)
print(f"largest difference between AA' and K: {np.abs(A @ A.T - K).max():.1e}")

# %%
# The perceptron
# --------------
# The primal update adds y times the features of the misclassified row to w; the dual update adds y to its coefficient.

w, a, differences = np.zeros(6), np.zeros(n), []
for _ in range(10):
    for k in range(n):
        primal, dual = A[k] @ w, K[k] @ a
        differences.append(abs(primal - dual))
        if y[k] * dual <= 0:
            w += y[k] * A[k]
            a[k] += y[k]
print(f"perceptron: scores differ by at most {max(differences):.1e} in {len(differences)} steps")

# %%
# Three methods, two answers
# --------------------------
# Ten epochs over all rows in the same order. The first two boundaries agree to rounding. The third method takes the
# rows of K as features of its own: the model class is the same, but a step in those weights is a step of another
# length in every direction, so it ends somewhere else.

c = np.zeros(n)
for _ in range(10):
    for k in range(n):
        if y[k] * (K[k] @ c) <= 0:
            c += 0.05 * y[k] * K[k]

grid = np.meshgrid(np.linspace(-3, 3, 120), np.linspace(-3, 3, 120))
plane = np.column_stack([axis.ravel() for axis in grid])
cross = Polynomial(2)(plane, X)
p, q = plane.T
explicit = np.column_stack([np.ones(len(plane)), r * plane, plane**2, r * p * q])
SCORES = {
    "ordinary update of w on the features": explicit @ w,
    "special update, one coefficient per row": cross @ a,
    "ordinary update on the similarities": cross @ c,
}
fig, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for ax, (title, score) in zip(axes, SCORES.items(), strict=True):
    ax.contour(*grid, score.reshape(grid[0].shape), levels=[0.0], colors="black")
    ax.scatter(*X.T, c=y, cmap="RdBu_r", s=10)
    ax.set(title=title, xticks=[], yticks=[], xlim=(-3, 3), ylim=(-3, 3))
    ax.title.set_fontsize(9.5)
first, second, third = SCORES.values()
print(f"first and second: largest relative difference {np.abs(first - second).max() / np.abs(first).max():.1e}")
print(f"first and third: other labels on {np.mean(np.sign(first) != np.sign(third)):.1%} of the plane")

# %%
# The hinge loss
# --------------
# Subgradient steps on the sum of hinge losses + alpha ||w||^2 shrink w (primal) or all coefficients (dual), then update
# where the margin is below 1. Shrinking all coefficients alike corresponds to a penalty on the norm of the *function*.
# The value tends to the optimum of `KernelHinge`, whose duality gap proves it.

alpha, steps = 1.0, 20_000
w, a, values, differences = np.zeros(6), np.zeros(n), [], []
mean = np.zeros(n)
for t in range(1, steps + 1):
    k = rng.integers(n)
    eta = 1 / (2 * alpha * t)
    primal, dual = A[k] @ w, K[k] @ a
    differences.append(abs(primal - dual))
    push = n * eta * y[k] * (y[k] * dual < 1)
    w, a = (1 - 2 * eta * alpha) * w, (1 - 2 * eta * alpha) * a
    w += push * A[k]
    a[k] += push
    mean += (a - mean) / min(t, 1 + t / 2)
    if t % 100 == 0:
        values.append(np.maximum(0, 1 - y * (K @ mean)).sum() + alpha * mean @ K @ mean)
machine = KernelHinge(Polynomial(2), alpha=alpha, tol=1e-8).fit(X, y)
best = machine.objective_[0]
print(f"hinge: scores differ by at most {max(differences):.1e} in {steps} steps")
print(f"value {values[-1]:.3f}; optimum {best:.3f} (duality gap {machine.dual_gap_[0]:.1e})")

# %%

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.loglog(np.arange(100, steps + 1, 100), np.array(values) - best)
axis.set(xlabel="steps", ylabel="above the optimum", title="The special update tends to the optimum of the hinge loss")
plt.show()
