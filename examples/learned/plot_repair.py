"""
Repair of images
================

Images of digits lie close to a subspace: 25 of 64 principal components explain most of their variance. Deviations from
the subspace can be detected and corrected. This example shows digits with noise, with missing pixels and with gross
errors, before and after `PCA.repair`. The originals took no part in the fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer.learn import PCA

X = load_digits().data
shown, training = X[:8], X[8:]
rng = np.random.default_rng(0)

noisy = shown + 3 * rng.normal(size=shown.shape)
missing = np.where(rng.uniform(size=shown.shape) < 0.25, np.nan, shown)
wrong = np.where(rng.uniform(size=shown.shape) < 0.05, shown + 40, shown)

# The variance of the noise is estimated from noisy images.
of_noisy = PCA(25).fit(training + 3 * rng.normal(size=training.shape))
of_clean = PCA(25).fit(training)
after_noise = of_noisy.repair(noisy, gross=np.inf)
after_missing, filled = of_clean.repair(missing, gross=np.inf, shrink=False, return_changes=True)
after_wrong, replaced = of_clean.repair(wrong, shrink=False, return_changes=True)

rows = {
    "original": shown,
    "small noise": noisy,
    "repaired ": after_noise,
    "a quarter missing": missing,
    "repaired  ": after_missing,
    "gross errors": wrong,
    "repaired   ": after_wrong,
}
figure, axes = plt.subplots(len(rows), len(shown), figsize=(9, 7))
figure.subplots_adjust(left=0.2, top=0.93, bottom=0.02)
figure.suptitle("Damaged digits before and after the repair")
for (name, pictures), line in zip(rows.items(), axes, strict=True):
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    for picture, cell in zip(pictures, line, strict=True):
        cell.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        cell.set(xticks=[], yticks=[])

# %%
# `Changes` lists what was changed, and where.
print(filled)
print(replaced)

# %%
# The mean squared error of a pixel, before and after.
for name, before, after in (
    ("small noise", noisy, after_noise),
    ("missing", np.where(np.isnan(missing), training.mean(axis=0), missing), after_missing),
    ("gross errors", wrong, after_wrong),
):
    print(f"{name:13} {np.mean((before - shown) ** 2):6.2f} -> {np.mean((after - shown) ** 2):.2f}")
