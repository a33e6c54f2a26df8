"""
What a filter misses
====================

A filter scores each column on its own. Three small problems show what that misses, and what to ask instead: useful to
*which class of predictors*, and together with *which other columns*?
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.select import FilterSelector, Lasso, compare_hypotheses

rng = np.random.default_rng(0)
n = 1000

# %%
# **A column that determines the target and has correlation zero.** With x1 uniform on [-1, 1] and y = x1^2, no affine
# predictor gains anything from x1, and any quadratic one gains everything. The column x2, within 0.01 of y, is the
# better one for affine predictors only.

x1 = rng.uniform(-1.0, 1.0, n)
parabola = x1**2
bowl = np.column_stack([x1, parabola + rng.uniform(-0.01, 0.01, n)])
print(compare_hypotheses(bowl, parabola))

# %%
# **A column that is useless alone and indispensable with another.** x1 and z are random signs, x2 = (z - x1)/2, and the
# target x1 + 2 x2 is z. x1 is independent of z; x2 alone explains half of its variance; together they explain it all.

x1, z = rng.choice([-1.0, 1.0], size=(2, n))
pair = np.column_stack([x1, (z - x1) / 2])
signs = pair @ [1.0, 2.0]
print(compare_hypotheses(pair, signs))

# %%
# **Two columns that only interact.** The class is the sign of a product. Even the mutual information of each column is
# zero.

cross = rng.normal(size=(n, 2))
quadrant = np.where(cross.prod(axis=1) > 0, "same", "opposite")
print(compare_hypotheses(cross, quadrant))

# %%
# The scores of the seven filters, column by column. Mutual information detects "parabola, x1". No filter of single
# columns detects "pair, x1" or the columns of "product"; pair information, which scores pairs of columns, detects them.

scores = ("pearson", "spearman", "mutual_information", "pair_information", "squared", "logistic", "hinge")
problems = {"parabola": (bowl, parabola), "pair": (pair, signs), "product": (cross, quadrant)}
names, rows = [], []
for name, (X, y) in problems.items():
    classes = y if y.dtype.kind == "U" else np.where(y > y.mean(), "high", "low")
    for j in range(2):
        names.append(f"{name}, x{j + 1}")
        rows.append([])
    for score in scores:
        target = classes if score in ("logistic", "hinge") else y
        found = FilterSelector(score).fit(X, target).scores_
        rows[-2].append(found[0])
        rows[-1].append(found[1])

figure, axes = plt.subplots(figsize=(9, 3.8))
picture = axes.imshow(np.clip(rows, 0, 1), cmap="Blues", vmin=0, vmax=1, aspect="auto")
axes.set_xticks(range(len(scores)), [score.replace("_", "\n") for score in scores], fontsize=9)
axes.set_yticks(range(len(names)), names)
for i, row in enumerate(rows):
    for j, value in enumerate(row):
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color="white" if value > 0.6 else "black")
axes.set_title("scores of single columns; pair information: beside one other column")
figure.colorbar(picture, ax=axes)
figure.tight_layout()
plt.show()

# %%
# Methods that fit all columns jointly find the pair.

print("the Lasso on the pair:", Lasso(alpha=0.01, debias=True).fit(pair, signs).coef_.round(2))
