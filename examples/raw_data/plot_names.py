"""
Where does a name come from?
============================

We classify made-up names of four languages. There is no table of features: the kernel counts the substrings of one to
three letters that two names share, and landmarks turn these similarities into columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.pipeline import make_pipeline

from mercer.expand import Landmarks
from mercer.kernels import Spectrum, Subsequence
from mercer.linear import RidgeClassifier
from mercer.machines import KernelPCA

rng = np.random.default_rng(0)
SYLLABLES = {
    "Italian": ("Ros Bian Mar Ric Fer Col Gal Con", "et ar ol in ell ucc an", "i ini etti one a elli"),
    "German": ("Sch Kr Becker Hoff Wag Stein Bau Fr", "n ei au lz mm tz er", "er mann berg bach ke dt"),
    "Polish": ("Kow Wis Now Lew Zie Woj Kam Szy", "al ni an czy ow iew in", "ski wicz czyk ak ska ek"),
    "Japanese": ("Ta Ya Ko Na Mi Sa Ha Fu", "ka na shi mo ma ji ku", "moto da mura ta ki saki"),
}


def name_of(language):
    """A beginning, perhaps a middle, and an end; each comes from another language with some probability."""
    sources = [language if rng.random() < 0.8 else rng.choice(list(SYLLABLES)) for _ in range(3)]
    first, middle, last = (rng.choice(SYLLABLES[source][i].split()) for i, source in enumerate(sources))
    return first + (middle if rng.random() < 0.7 else "") + last


languages = list(SYLLABLES)
y, y_test = rng.choice(languages, 800), rng.choice(languages, 800)
X, X_test = [name_of(language) for language in y], [name_of(language) for language in y_test]
print(list(zip(X, y.tolist(), strict=True))[:6])

# %%
# Landmarks on raw strings
# ------------------------
# A sum of spectrum kernels is normalized to make long and short names comparable. `Subsequence` allows gaps.

kernels = {
    "letters": Spectrum(1).normalized(),
    "words of 1 to 3": (Spectrum(1) + Spectrum(2) + Spectrum(3)).normalized(),
    "with gaps": Subsequence(3, decay=0.5).normalized(),
}
for label, kernel in kernels.items():
    model = make_pipeline(Landmarks(200, kernel), RidgeClassifier()).fit(X, y)
    print(f"{label:16} accuracy {model.score(X_test, y_test):.3f}")

# %%
# A map of names
# --------------

kernel = kernels["words of 1 to 3"]
model = make_pipeline(Landmarks(200, kernel), RidgeClassifier()).fit(X, y)
coordinates = KernelPCA(kernel, n_components=2).fit_transform(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for language in languages:
    left.plot(*coordinates[y == language].T, ".", markersize=4, label=language)
for i in range(0, 60, 3):
    left.annotate(X[i], coordinates[i], fontsize=7)
left.set(title="kernel PCA of names", xticks=[], yticks=[])
left.legend()
ConfusionMatrixDisplay.from_predictions(y_test, model.predict(X_test), ax=right, colorbar=False)
right.set_title("landmarks and ridge")
plt.show()
