"""
Lifts and random features
=========================

No line separates a disc from the ring around it. In suitable features a hyperplane does. There are two ways to find
such features: a lift written by hand, for which we must know the shape, and random features of a kernel, for which we
need not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.pipeline import make_pipeline

import mercer

X, y = make_circles(600, noise=0.12, factor=0.45, random_state=0)
train, test = slice(0, 400), slice(400, 600)

# %%
# The parabolic lift
# ------------------
# Map :math:`x` to :math:`(x, \|x\|^2)`, a point of a paraboloid. A plane cuts the paraboloid in a curve above a circle:
# a linear classifier of the lifted points separates a disc in the plane.


def lifted(X):
    return np.column_stack([X, np.sum(X**2, axis=1)])


plain = mercer.RidgeClassifier().fit(X[train], y[train])
by_hand = mercer.RidgeClassifier().fit(lifted(X[train]), y[train])
print(f"plain columns : {plain.score(X[test], y[test]):.3f}")
print(f"lifted by hand: {by_hand.score(lifted(X[test]), y[test]):.3f}")

fig = plt.figure(figsize=(6, 4))
ax = fig.add_subplot(projection="3d")
ax.scatter(*lifted(X[test]).T, c=y[test], cmap="RdBu_r", s=12)
ax.set(xlabel="$x_1$", ylabel="$x_2$", zlabel=r"$\|x\|^2$")
ax.set_title("On the paraboloid the ring lies above the disc")

# %%
# Random features
# ---------------
# A Gaussian kernel :math:`k(x, z) = e^{-\|x - z\|^2 / 2\sigma^2}` is the inner product of infinitely many cosines. A
# few hundred random ones approximate it well, without knowledge of the shape of the classes.

fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharey=True)
grid = np.linspace(-1.6, 1.6, 160)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])
for ax, n_components in zip(axes, (4, 16, 256), strict=True):
    features = mercer.RandomFeatures(mercer.Gaussian(0.7), n_components=n_components)
    model = make_pipeline(features, mercer.RidgeClassifier()).fit(X[train], y[train])
    score = model.decision_function(plane).reshape(160, 160)
    ax.contourf(grid, grid, score, levels=[-9, 0, 9], cmap="RdBu_r", alpha=0.3)
    ax.scatter(*X[test].T, c=y[test], cmap="RdBu_r", s=6)
    ax.set(title=f"{n_components} features: {model.score(X[test], y[test]):.1%}", xticks=[], yticks=[])

# %%
# The error of the approximation
# ------------------------------
# Inner products of the features estimate the kernel. Their error falls like :math:`1/\sqrt{D}`; it is smaller for
# orthogonal frequencies, the default.

kernel = mercer.Gaussian(0.7)
sizes = 2 ** np.arange(3, 12)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for sampling in ("iid", "orthogonal"):
    errors = []
    for D in sizes:
        Z = mercer.RandomFeatures(kernel, n_components=int(D), sampling=sampling).fit_transform(X[:200])
        errors.append(np.sqrt(np.mean((Z @ Z.T - kernel(X[:200])) ** 2)))
    ax.loglog(sizes, errors, "o-", label=sampling)
ax.set(xlabel="number of features $D$", ylabel="error of the kernel (RMS)", xticks=sizes[::2], xticklabels=sizes[::2])
ax.set_title("More features, less error")
ax.legend()

# %%
# All penalties from one pass
# ---------------------------
# One pass collects the Gram matrix of the features per fold. Every penalty, and the exact cross-validated error of
# each, follow from it without another pass over the rows.

Z = mercer.RandomFeatures(kernel, n_components=256).fit_transform(X[train])
ridge = mercer.RidgeClassifier().fit(Z, y[train])
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.loglog(ridge.alphas_, ridge.losses_)
ax.axvline(ridge.alpha_, color="black", linestyle=":")
ax.set(xlabel="penalty", ylabel="squared error, 5 folds", title=f"{len(ridge.alphas_)} penalties from one pass")
plt.show()
