"""
A circle becomes a halfspace
============================

No linear classifier separates the inside of a circle from its outside. On the parabolic lift phi(x) = (x, ||x||^2) one
does: the lift maps the plane to a paraboloid and the circle to a plane section of it. The ball of center c and radius r
is the halfspace

    <(2c, -1), phi(x)> >= ||c||^2 - r^2.

Conversely, `ParabolicLift.ball` computes center and radius from the coefficients of a linear classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from mercer.expand import ParabolicLift

rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, size=(600, 2))
inside = np.linalg.norm(X - [0.4, -0.3], axis=1) < 1.1

lift = ParabolicLift().fit(X)
Z = lift.transform(X)

# %%
# A linear classifier fails in the plane; on the lift it is nearly perfect.

plain = LogisticRegression(C=100.0).fit(X, inside)
lifted = LogisticRegression(C=100.0, max_iter=1000).fit(Z, inside)
print(f"accuracy on x: {plain.score(X, inside):.3f}, on (x, ||x||^2): {lifted.score(Z, inside):.3f}")

# %%
# Its decision region is a ball in the plane.

region = lift.ball(lifted.coef_, lifted.intercept_)
center, radius = region
print(f"the positive side is a {region.kind} around {center.round(2)} of radius {radius:.2f}")
assert np.array_equal(region.contains(X), lifted.predict(Z))

# %%
# Left: the points on the paraboloid, and the plane that separates them. Right: the same classifier in the plane.

figure = plt.figure(figsize=(9, 4))
space = figure.add_subplot(1, 2, 1, projection="3d")
flat = figure.add_subplot(1, 2, 2)
for label, color in ((True, "tab:orange"), (False, "tab:blue")):
    chosen = inside == label
    space.scatter(*Z[chosen].T, s=4, color=color)
    flat.scatter(*X[chosen].T, s=4, color=color)
a, b = np.meshgrid(np.linspace(-2, 2, 9), np.linspace(-2, 2, 9))
height = radius**2 - center @ center + 2 * (center[0] * a + center[1] * b)
space.plot_surface(a, b, height, alpha=0.3, color="gray")
space.set(xlabel="$x_1$", ylabel="$x_2$", zlabel=r"$\|x\|^2$", title="a plane cuts the paraboloid")
flat.add_patch(plt.Circle(center, radius, fill=False, color="black"))
flat.set(xlabel="$x_1$", ylabel="$x_2$", title="a circle cuts the plane", aspect="equal")
figure.tight_layout()
plt.show()
