"""
The kernel perceptron, with and without a budget
================================================

The kernel perceptron stores every row that it misclassified during training. On noisy data these are a large fraction
of all rows. A budget bounds their number; the policies differ in what they do when the budget is used up.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.kernels import Gaussian
from mercer.machines import KernelPerceptron

rng = np.random.default_rng(0)


def spirals(n):
    turn, side = rng.uniform(0.25, 1.0, n), rng.integers(0, 2, n)
    angle = 3 * np.pi * turn + np.pi * side
    rows = turn[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows + 0.08 * rng.normal(size=(n, 2)), side


X, y = spirals(3000)
X_test, y_test = spirals(2000)

# %%
# Four machines
# -------------
# Two machines without a budget, and two with a budget of 60 rows: Projectron++ projects new rows onto the stored ones,
# Forgetron shrinks the coefficients and removes the oldest row.

machines = {
    "no budget": KernelPerceptron(Gaussian(0.12)),
    "averaged": KernelPerceptron(Gaussian(0.12), average=True),
    "Projectron++, 60 rows": KernelPerceptron(Gaussian(0.12), budget=60),
    "Forgetron, 60 rows": KernelPerceptron(Gaussian(0.12), budget=60, policy="forgetron"),
}
for name, machine in machines.items():
    machine.fit(X, y)
    print(f"{name:24} {len(machine.support_):4} rows, test accuracy {machine.score(X_test, y_test):.3f}")

# %%

grid = np.stack(np.meshgrid(*[np.linspace(-1.1, 1.1, 120)] * 2), axis=-1)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained")
for (name, machine), axis in zip(machines.items(), axes, strict=True):
    scores = machine.decision_function(grid.reshape(-1, 2)).reshape(120, 120)
    limit = np.abs(scores).max()
    axis.contourf(grid[..., 0], grid[..., 1], scores, levels=20, cmap="RdBu", vmin=-limit, vmax=limit)
    axis.contour(grid[..., 0], grid[..., 1], scores, levels=[0], colors="black", linewidths=0.8)
    axis.plot(*machine.support_vectors_.T, "k.", markersize=2)
    axis.set(title=f"{name} ({machine.score(X_test, y_test):.0%})", xticks=[], yticks=[])
plt.show()
