r"""
Conic sections are planes in five features
==========================================

Every set with a quadratic boundary in the plane is

.. math:: \alpha_1 x_1 + \alpha_2 x_2 + \alpha_3 x_1^2 + \alpha_4 x_1 x_2 + \alpha_5 x_2^2 > \alpha_0 ,

a halfspace in the five features of `PolynomialLift(2)`. The same linear classifier therefore finds an ellipse, a
hyperbola or a parabola, whichever the data hold. The notes write the weights as :math:`(\alpha_0, \ldots, \alpha_5)`
with the constant feature in front; its sign must then be :math:`-\alpha_0`, because the constant moves to the other
side.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from mercer.expand import PolynomialLift

rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, size=(1200, 2))
tilted = X @ np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
SHAPES = {
    "ellipse": (tilted[:, 0] / 1.6) ** 2 + (tilted[:, 1] / 0.8) ** 2 < 1,
    "hyperbola": (tilted[:, 0] / 0.8) ** 2 - (tilted[:, 1] / 0.8) ** 2 > 1,
    "parabola": tilted[:, 1] > 0.7 * tilted[:, 0] ** 2 - 0.8,
}

# %%
# One classifier, three curves
# ----------------------------
# A conic section :math:`ax^2 + bxy + cy^2 + \ldots` is an ellipse if :math:`b^2 - 4ac < 0`, a hyperbola if it is
# positive and a parabola only if it is zero. The third fit is therefore an ellipse or a hyperbola that looks like a
# parabola in this window: the discriminant below is small beside those of the others, but not zero.

lift = PolynomialLift(2, include_bias=False).fit(X)
Z = lift.transform(X)
grid = np.meshgrid(np.linspace(-2, 2, 160), np.linspace(-2, 2, 160))
plane = lift.transform(np.column_stack([axis.ravel() for axis in grid]))
fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
print("features:", ", ".join(lift.get_feature_names_out()))
for ax, (name, inside) in zip(axes, SHAPES.items(), strict=True):
    rule = LogisticRegression(C=1e4, max_iter=5000).fit(Z, inside)
    _, _, a, b, c = rule.coef_[0] / np.linalg.norm(rule.coef_)
    score = rule.decision_function(plane).reshape(grid[0].shape)
    ax.contour(*grid, score, levels=[0.0], colors="black", linewidths=2)
    ax.scatter(*X.T, c=inside, cmap="RdBu_r", s=7, alpha=0.6)
    ax.set(title=f"{name}: {rule.score(Z, inside):.1%} correct", xticks=[], yticks=[], aspect="equal")
    print(f"{name:<10} b^2 - 4ac = {b**2 - 4 * a * c:+.3f}")

# %%
# How many features
# -----------------
# Degree p in d columns needs :math:`\binom{d + p}{p} - 1` features without the constant: a polynomial in p for fixed
# d, and in d for fixed p.

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for d in (2, 5, 10, 20):
    sizes = [PolynomialLift(p, include_bias=False).fit(np.zeros((1, d))).n_output_features_ for p in range(1, 7)]
    ax.semilogy(range(1, 7), sizes, "o-", label=f"{d} columns")
ax.set(xlabel="degree", ylabel="features", title="The price of an exact lift")
ax.legend()
plt.show()
