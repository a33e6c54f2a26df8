"""
The error of random features
============================

Random features estimate a kernel without bias; methods of sampling differ in the variance. This example shows the root
mean square error of the Gaussian kernel over pairs of rows as a function of the number of columns.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian, Polynomial

SAMPLINGS = ("iid", "orthogonal", "structured", "quasi")
SIZES = 2 ** np.arange(6, 12)


def error(kernel, X, n_components, **options):
    """Root mean square error over all pairs of rows and three seeds."""
    exact = kernel(X)
    squares = []
    for seed in range(3):
        Z = RandomFeatures(kernel, n_components=n_components, random_state=seed, **options).fit_transform(X)
        squares.append(np.mean((Z @ Z.T - exact) ** 2))
    return np.sqrt(np.mean(squares))


# %%
# Few and many input columns
# --------------------------
# In 4 dimensions quasi-random frequencies are the most accurate, and their error falls faster than one over the square
# root of the number of columns. In 64 dimensions orthogonal ones are the best; structured ones are nearly as good.

rng = np.random.default_rng(0)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, d in zip(axes, (4, 64), strict=True):
    X = rng.normal(size=(100, d))
    for sampling in SAMPLINGS:
        ax.loglog(
            SIZES, [error(Gaussian(np.sqrt(d)), X, n, sampling=sampling) for n in SIZES], marker="o", label=sampling
        )
    ax.set(title=f"Gaussian kernel, {d} columns", xlabel="n_components")
axes[0].set_ylabel("root mean square error")
axes[0].legend()
fig.tight_layout()

# %%
# Polynomials
# -----------
# Sketches of polynomial kernels need more columns for higher degrees. From 4 x 65 columns on, the constant and the
# linear term of degrees 2 and 3 have their own columns and no error. The figure shows errors relative to the size of
# the kernel, for rows of norm one.

X = rng.normal(size=(100, 64))
X /= np.linalg.norm(X, axis=1, keepdims=True)
fig, ax = plt.subplots(figsize=(5, 4))
for degree in (2, 3, 4):
    kernel = Polynomial(degree)
    size = np.sqrt(np.mean(kernel(X) ** 2))
    ax.loglog(SIZES, [error(kernel, X, n) / size for n in SIZES], marker="o", label=f"degree {degree}")
ax.set(title="TensorSketch", xlabel="n_components", ylabel="relative error")
ax.legend()
fig.tight_layout()
plt.show()
