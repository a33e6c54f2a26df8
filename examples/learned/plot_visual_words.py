r"""
Visual words
============

A document is described by how often each word occurs. An image has no words, so we make some: cut patches out of all
images, cluster them, and call each cluster a *visual word*. An image is then the histogram of its words, a row of
numbers for a linear model. The notes describe it with the map :math:`\psi(x) \in \{0, 1\}^k`, one indicator per
cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import ClusterFeatures, LogisticClassifier, PatchWhitening, SparseCoding, extract_patches

images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)
first, second, y_first, y_second = train_test_split(images, labels, test_size=0.4, random_state=0)
whitening = PatchWhitening(contrast=1.0, eps=0.1).fit(extract_patches(first, size=4, n_patches=8000))

# %%
# Learn the words
# ---------------
# Patches of 4 x 4 pixels, whitened so that strokes count rather than brightness. The 32 centers are the words.

patches = whitening.transform(extract_patches(first, size=4, n_patches=8000))
words = ClusterFeatures(32, encoding="hard", random_state=0).fit(patches)
fig, axes = plt.subplots(2, 16, figsize=(11, 1.8), layout="constrained")
for ax, center in zip(axes.ravel(), words.centers_, strict=True):
    ax.imshow(center.reshape(4, 4), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
fig.suptitle("32 visual words", fontsize=11)

# %%
# Describe images by their words
# ------------------------------
# Every image has 25 overlapping patches. The histogram over the whole image forgets where a word occurred; four
# histograms, one per quarter, remember roughly. "Triangle" encoding replaces the one word of a patch by how much
# closer than average each center is, and a sparse code writes the patch as a sum of a few atoms.

ENCODERS = {
    "one word per patch": words,
    "triangle": ClusterFeatures(32, encoding="triangle", random_state=0).fit(patches),
    "sparse code, 3 of 32 atoms": SparseCoding(32, nonzeros=3, random_state=0).fit(patches),
}


def described(encoder, some, quarters):
    codes = encoder.transform(whitening.transform(extract_patches(some, size=4)))
    codes = np.abs(codes.toarray() if sparse.issparse(codes) else codes).reshape(len(some), 5, 5, -1)
    if not quarters:
        return codes.sum(axis=(1, 2))
    parts = [codes[:, i : i + 3, j : j + 3].sum(axis=(1, 2)) for i in (0, 2) for j in (0, 2)]
    return np.concatenate(parts, axis=1)


results = {}
for name, encoder in ENCODERS.items():
    for quarters in (False, True):
        train, test = described(encoder, first, quarters), described(encoder, second, quarters)
        scale = train.std() or 1.0
        model = LogisticClassifier(alpha=0.05).fit(train / scale, y_first)
        results[name, quarters] = model.score(test / scale, y_second)
pixels = LogisticClassifier(alpha=0.05).fit(first.reshape(len(first), -1) / 16, y_first)
results_of_pixels = pixels.score(second.reshape(len(second), -1) / 16, y_second)

# %%
# What it is worth
# ----------------
# Without positions the words of a digit are not enough. With quarters, one word per patch comes close to the pixels,
# and the soft assignment of the triangle encoding beats them.

fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
at = np.arange(len(ENCODERS))
for shift, quarters, label in ((-0.2, False, "whole image"), (0.2, True, "four quarters")):
    values = [results[name, quarters] for name in ENCODERS]
    bars = ax.bar(at + shift, values, 0.38, label=label)
    ax.bar_label(bars, fmt="%.3f", fontsize=8, padding=-12, color="white")
ax.axhline(results_of_pixels, linestyle=":", color="black", label=f"pixels ({results_of_pixels:.3f})")
ax.set(xticks=at, xticklabels=ENCODERS, ylim=(0.6, 1.03), ylabel="accuracy on new digits")
ax.set_title("Words, and where they are")
ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
