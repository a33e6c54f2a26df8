"""
The first layers of a network as features
=========================================

A neural network is a feature map followed by a linear model. Its hidden layers can be used like any other feature map:
compute their activations in a pipeline, alone or beside other features, and fit ridge regression with exact
cross-validation on them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer

import mercer
from mercer.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X = X / 16
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)

# %%
# A small network
# ---------------
# Two hidden layers of rectified linear units, trained on another task: is the digit even? The layers are given by
# `coefs_` and `intercepts_`.

network = MLPClassifier((128, 32), max_iter=400, random_state=0).fit(X_train, y_train % 2)


def first_layers(X, n_layers):
    """The activations after `n_layers` hidden layers of the network."""
    for weights, bias in zip(network.coefs_[:n_layers], network.intercepts_[:n_layers], strict=True):
        X = np.maximum(X @ weights + bias, 0.0)
    return X


# %%
# The map in a pipeline
# ---------------------
# `FunctionTransformer` makes a step of any function of rows, such as the first layers of this network or the embedding
# of a pretrained one. This network was trained to separate even digits from odd ones. Its layers still help to separate
# all ten digits, and more so together with random features.

layers = {n: FunctionTransformer(first_layers, kw_args={"n_layers": n}) for n in (1, 2)}
features = mercer.RandomFeatures(Gaussian("median"), n_components=256)
pipelines = {
    "pixels": mercer.RidgeClassifier(),
    "first layer": make_pipeline(layers[1], mercer.RidgeClassifier()),
    "both layers": make_pipeline(layers[2], mercer.RidgeClassifier()),
    "random features": make_pipeline(features, mercer.RidgeClassifier()),
    "first layer and\nrandom features": make_pipeline(make_union(layers[1], features), mercer.RidgeClassifier()),
}
scores = {name: model.fit(X_train, y_train).score(X_test, y_test) for name, model in pipelines.items()}

fig, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
bars = ax.barh(list(scores), list(scores.values()), color="tab:blue")
ax.bar_label(bars, fmt="%.3f", padding=3)
ax.set(xlim=(0.85, 1.01), xlabel="accuracy on test rows", title="A linear model on five sets of features")
ax.invert_yaxis()

# %%
# The weights of the first layer
# ------------------------------
# Each unit of the first layer has 8 by 8 weights; the 16 units with the largest norms are shown.

strongest = np.argsort(-np.linalg.norm(network.coefs_[0], axis=0))[:16]
fig, axes = plt.subplots(2, 8, figsize=(8, 2.5), layout="constrained")
fig.suptitle("Weights of sixteen units of the first layer")
for ax, unit in zip(axes.ravel(), strongest, strict=True):
    ax.imshow(network.coefs_[0][:, unit].reshape(8, 8), cmap="RdBu_r")
    ax.axis("off")

plt.show()
