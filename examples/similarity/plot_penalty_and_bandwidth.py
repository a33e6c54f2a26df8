r"""
Penalty and bandwidth
=====================

Every training row is a landmark, and the hinge loss with a penalty decides which matter. Two numbers control how
wrinkled the boundary is: the bandwidth :math:`\sigma` of the Gaussian similarity and the weight :math:`\alpha` of the
penalty. This is the grid of pictures of the notes, with the error on new rows below each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer.kernels import Gaussian
from mercer.machines import KernelHinge

X, y = make_moons(150, noise=0.3, random_state=0)
X_new, y_new = make_moons(2000, noise=0.3, random_state=1)
grid = np.meshgrid(np.linspace(-2.0, 3.0, 110), np.linspace(-1.6, 2.0, 80))
plane = np.column_stack([axis.ravel() for axis in grid])

# %%
# The grid of the notes
# ---------------------
# Read it by rows and by columns. To the left :math:`\sigma` is small: the model sees every row, and its boundary
# encircles single points. To the right it blurs the plane. Downward :math:`\alpha` grows and flattens the weights.
# The best models lie on a diagonal: a wide kernel needs a small penalty, because only large weights make it bend.

sigmas, alphas = (0.1, 0.4, 1.5, 6.0), (0.001, 0.1, 10.0)
fig, axes = plt.subplots(len(alphas), len(sigmas), figsize=(11, 6.2), layout="constrained")
for row, alpha in zip(axes, alphas, strict=True):
    for ax, sigma in zip(row, sigmas, strict=True):
        machine = KernelHinge(Gaussian(sigma), alpha=alpha, tol=1e-3, max_iter=3000).fit(X, y)
        score = machine.decision_function(plane).reshape(grid[0].shape)
        ax.contourf(*grid, np.tanh(score), levels=np.linspace(-1, 1, 11), cmap="RdBu_r", alpha=0.5)
        ax.contour(*grid, score, levels=[0.0], colors="black", linewidths=1)
        ax.scatter(*X.T, c=y, cmap="RdBu_r", s=6)
        errors = 1 - machine.score(X, y), 1 - machine.score(X_new, y_new)
        title = f"σ = {sigma:g}, α = {alpha:g}\ntraining {errors[0]:.0%}, new rows {errors[1]:.1%}"
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize=8.5)

# %%
# The same as a map
# -----------------
# The error on new rows over a finer grid: a valley, not a point. It explains why a search over both on a coarse
# logarithmic grid is enough.

many_sigmas, many_alphas = np.geomspace(0.1, 6.0, 9), np.geomspace(1e-3, 10.0, 8)
errors = np.array(
    [
        [
            1 - KernelHinge(Gaussian(s), alpha=a, tol=1e-2, max_iter=1500).fit(X, y).score(X_new, y_new)
            for s in many_sigmas
        ]
        for a in many_alphas
    ]
)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
shown = ax.pcolormesh(many_sigmas, many_alphas, errors, cmap="viridis_r", shading="nearest")
fig.colorbar(shown, label="error on new rows")
ax.set(xscale="log", yscale="log", xlabel="bandwidth σ", ylabel="penalty α", title="Errors on new rows")
a, s = np.unravel_index(errors.argmin(), errors.shape)
ax.plot(many_sigmas[s], many_alphas[a], "w*", markersize=14)
print(f"smallest error {errors.min():.3f} at sigma {many_sigmas[s]:.2g}, alpha {many_alphas[a]:.2g}")
plt.show()
