"""
The number of nonzeros of a sparse projection
=============================================

A sparse projection preserves squared lengths on average, and the variance of the error does not depend on the number s
of nonzeros per column. The tails do. For a vector with two large entries and s = 1, either both entries collide or none
does. With s = 8 only some of the eight copies collide, and the largest of many errors is much smaller.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from mercer.project import GaussianProjection, SparseProjection

# Twenty thousand vectors (e_i + e_j)/sqrt(2) of disjoint columns: as many independent draws of the map.
n, m = 20_000, 64
columns = np.arange(2 * n)
X = sparse.csr_matrix((np.full(2 * n, 0.5**0.5), columns, np.arange(0, 2 * n + 1, 2)))

maps = {f"sparse, s = {s}": SparseProjection(m, nonzeros=s) for s in (1, 2, 8)}
errors = {name: np.sum(a.fit_transform(X) ** 2, axis=1) - 1 for name, a in maps.items()}

# The components of a Gaussian projection are independent: groups of m of them are as many maps.
y = GaussianProjection(m * 2000).fit_transform(np.full((1, 2), 0.5**0.5)).reshape(2000, m) * np.sqrt(2000)
errors["Gaussian"] = np.sum(y**2, axis=1) - 1

figure, axes = plt.subplots()
for name, error in errors.items():
    size = np.sort(abs(error))[::-1]
    axes.plot(size, np.arange(1, len(size) + 1) / len(size), drawstyle="steps-post", label=name)
axes.set(xlabel="error of the squared length", ylabel="fraction of vectors with a larger error", yscale="log")
axes.set_title("More nonzeros, lighter tails")
axes.legend()

for name, error in errors.items():
    print(f"{name:15} standard deviation {error.std():.3f}   largest error {abs(error).max():.2f}")
