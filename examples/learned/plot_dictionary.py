"""
The strokes that digits are made of
===================================

Dictionary learning writes each patch of a handwritten digit as a sum of a few atoms, and learns the atoms from the
patches. The atoms of raw patches are areas and strokes; those of whitened patches, whose pixels are uncorrelated, are
finer edges and points. A linear model on the codes, pooled over the quarters of an image, is more accurate than one on
the pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer.learn import PatchWhitening, SparseCoding, extract_patches
from mercer.linear import RidgeClassifier

images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)
first, second, y_first, y_second = train_test_split(images, labels, random_state=0)
patches = extract_patches(first, size=4, n_patches=10_000)

white = PatchWhitening(contrast=1.0, eps=0.05).fit(patches)
atoms = {
    "raw patches": SparseCoding(64, 3, n_epochs=3).fit(patches),
    "whitened patches": SparseCoding(64, 3, n_epochs=3).fit(white.transform(patches)),
}

figure = plt.figure(figsize=(9, 5))
figure.suptitle("Sixty-four atoms of each dictionary")
for part, (name, coding) in zip(figure.subfigures(2, 2, height_ratios=[0.05, 1])[1], atoms.items(), strict=True):
    part.suptitle(name)
    for atom, axes in zip(coding.dictionary_, part.subplots(8, 8).ravel(), strict=True):
        axes.imshow(atom.reshape(4, 4), cmap="gray")
        axes.set(xticks=[], yticks=[])


# %%
# Every image has 5 x 5 patches. The positive and negative parts of their codes, summed over the four quarters of the
# image, are 512 features.
def pooled(pictures, whiten):
    rows = extract_patches(pictures, size=4)
    coding = atoms["whitened patches" if whiten else "raw patches"]
    codes = coding.transform(white.transform(rows) if whiten else rows).toarray()
    both = np.hstack([np.maximum(codes, 0), np.maximum(-codes, 0)]).reshape(len(pictures), 5, 5, -1)
    quarters = [both[:, a, b].sum(axis=(1, 2)) for a in (slice(0, 3), slice(2, 5)) for b in (slice(0, 3), slice(2, 5))]
    return np.hstack(quarters)


ways = {
    "pixels": lambda pictures: pictures.reshape(-1, 64),
    "codes of raw patches": lambda pictures: pooled(pictures, whiten=False),
    "codes of whitened patches": lambda pictures: pooled(pictures, whiten=True),
}
for name, features in ways.items():
    score = RidgeClassifier().fit(features(first), y_first).score(features(second), y_second)
    print(f"{name:26} {score:.3f}")
