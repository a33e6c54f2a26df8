"""
How good are my random features?
================================

A theorem states in advance how many random Fourier features suffice for a given accuracy, on any data. A
certificate measures how accurate they are on given data. Here are both, for the handwritten digits that
ship with scikit-learn.
"""

# %%
# A certificate
# -------------
# The kernel is a Gaussian whose bandwidth is the median distance of two digits. 5,000 random pairs of digits are
# measured; the right-hand column holds for all 1.6 million pairs with 95 % confidence.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer.bounds import certify_distances, fourier_dimension
from mercer.expand import RandomFeatures
from mercer.kernels import Gaussian, Laplace

X = load_digits().data
kernel = Gaussian("median").resolve(X)
certificate = RandomFeatures(kernel, n_components=1024).fit(X).certificate(X)
print(certificate)

# %%
# What it means for ridge regression: with a penalty of 10, the fitted values differ from those of exact kernel ridge
# by at most this fraction of the norm of the target.

print(certificate.fitted_value_bound(alpha=10.0))

# %%
# Theory and measurement
# ----------------------
# The number of columns that theory requires for all pairs of the 1,797 digits, and the measured errors. Both fall like
# one over the square root of the number of columns. Theory holds for the least favorable data and for all pairs at
# once, so it requires more columns.

columns = 2 ** np.arange(6, 13)
measured = [RandomFeatures(kernel, n_components=n).fit(X).certificate(X) for n in columns]
eps = np.logspace(-1.2, 0, 50)
needed = [fourier_dimension(e, 0.05, len(X)) for e in eps]

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.loglog(needed, eps, color="black", label="all pairs, by theory")
axes.loglog(columns, [c.max for c in measured], "o-", label="largest of 5,000 pairs")
axes.loglog(columns, [c.quantile_bound(0.99) for c in measured], "o-", label="99 % of all pairs")
axes.loglog(columns, [c.quantile_bound(0.5) for c in measured], "o-", label="half of all pairs")
axes.set(xlabel="number of columns", ylabel="error of a kernel value", title="The bound and the measured errors")
axes.legend(frameon=False)

# %%
# The whole distribution
# ----------------------
# The band contains the true distribution function of the errors everywhere, with 95 % confidence.

sizes = np.sort(np.abs(certificate.errors))
fraction = np.arange(1, len(sizes) + 1) / len(sizes)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.fill_between(sizes, fraction - certificate.band, fraction + certificate.band, alpha=0.3, label="95 % band")
axes.plot(sizes, fraction, label="measured")
axes.set(xlabel="error of a kernel value", ylabel="fraction of pairs", ylim=(0, 1), title="Errors of all pairs")
axes.legend(frameon=False)

# %%
# Distances, and a kernel that does not preserve them
# ---------------------------------------------------
# Random features of a smooth kernel also approximate distances with a small relative error. Those of the Laplace kernel
# do not: the closer two rows are, the larger the relative error, without bound. `certify_distances` refuses it and says
# why.

print(certify_distances(RandomFeatures(kernel, n_components=1024).fit(X), X))
try:
    certify_distances(RandomFeatures(Laplace(50.0), n_components=1024).fit(X), X)
except ValueError as refusal:
    print(refusal)

plt.show()
