"""
Splice sites: words and their positions
=======================================

The DNA at the end of an exon often reads ``AG|GTAAGT``, and before the next one ``(C or T) x 12 CAG|G``. We generate
sites of both kinds and decoys with the same letters, and compare kernels of three kinds: counts of letters, counts of
words (`Spectrum`, `Mismatch`), and words at their positions (`WeightedDegree`).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from mercer.expand import lift
from mercer.kernels import Mismatch, Spectrum, WeightedDegree
from mercer.linear import LogisticClassifier

rng = np.random.default_rng(0)
LENGTH, CENTER = 60, 30


def drawn(pattern, strength):
    """The letters of a pattern, each kept with some probability; Y is C or T, R is A or G."""
    choices = {"Y": "CT", "R": "AG"}
    kept = rng.random(len(pattern)) < strength
    return [rng.choice(list(choices.get(c, c) if keep else "ACGT")) for c, keep in zip(pattern, kept, strict=True)]


def site(kind):
    letters = rng.choice(list("ACGT"), LENGTH)
    if kind == "donor":
        letters[CENTER - 3 : CENTER + 6] = drawn("CAGGTRAGT", 0.75)
    elif kind == "acceptor":
        letters[CENTER - 15 : CENTER + 1] = drawn("YYYYYYYYYYYYCAGG", 0.75)
    else:  # the words of a site, at a random position
        start = rng.integers(0, LENGTH - 9)
        letters[start : start + 9] = drawn("CAGGTRAGT", 0.75)
    return "".join(letters)


kinds = np.array(["donor", "acceptor", "neither"])
y, y_test = rng.choice(kinds, 1500), rng.choice(kinds, 1500)
X, X_test = [site(kind) for kind in y], [site(kind) for kind in y_test]
print(*X[:3], sep="\n")

# %%
# Comparison of kernels
# ---------------------
# Each kernel has a sparse lift, and a linear model on the lift is a kernel machine.

kernels = {
    "letters": Spectrum(1, alphabet="dna"),
    "words of 5": Spectrum(5, alphabet="dna"),
    "words of 6, 1 mismatch": Mismatch(6, 1),
    "words of 1 to 5 by position": WeightedDegree(5, alphabet="dna"),
}
scores = {}
for name, kernel in kernels.items():
    model = make_pipeline(lift(kernel.normalized()), LogisticClassifier(alpha=0.1)).fit(X, y)
    scores[name] = model.score(X_test, y_test)
    print(f"{name:26} {model[0].n_output_features_:6} features, accuracy {scores[name]:.3f}")

# %%
# What was learned
# ----------------
# The coefficients have names, such as ``'GT' at 30``: their norm at each position shows where the sites are recognized.

names = model[0].get_feature_names_out()
positions = np.array([int(name.split(" at ")[1]) for name in names])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
left.barh(list(scores), list(scores.values()))
left.set(xlabel="test accuracy", xlim=(0.3, 1), title="Four kernels")
left.invert_yaxis()
for kind, row in zip(model[1].classes_, model[1].coef_, strict=True):
    right.plot(np.sqrt(np.bincount(positions, row**2, minlength=LENGTH)), label=kind)
right.axvline(CENTER, color="gray", linewidth=0.8)
right.set(xlabel="position of a word", ylabel="norm of its coefficients", title="Where the sites are recognized")
right.legend()
plt.show()
