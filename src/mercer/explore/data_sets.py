"""Labeled points of the plane. Each function needs NumPy only: its source is part of the code that is copied."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def blobs(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two round clouds that a line separates when the noise is small."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = np.outer(y, [0.7, 0.5]) + (0.25 + noise) * rng.normal(size=(n, 2))
    return X.round(3), y


def circles(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One circle inside another."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    angle = rng.uniform(0, 2 * np.pi, n)
    X = np.where(y > 0, 0.45, 1.0)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (X + noise * rng.normal(size=(n, 2))).round(3), y


def ring(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A ring around one class, which also lies outside of it."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    inside = np.where(rng.uniform(size=n) < 0.5, rng.uniform(0, 0.35, n), rng.uniform(0.95, 1.3, n))
    radius = np.where(y > 0, rng.uniform(0.55, 0.8, n), inside)
    angle = rng.uniform(0, 2 * np.pi, n)
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (X + noise * rng.normal(size=(n, 2))).round(3), y


def moons(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaving half circles."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    angle = rng.uniform(0, np.pi, n)
    upper = np.stack([np.cos(angle) - 0.5, np.sin(angle) - 0.25], axis=1)
    X = np.where(y[:, None] > 0, upper, -upper)
    return (X + noise * rng.normal(size=(n, 2))).round(3), y


def spirals(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arms that wind around each other."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    t = np.sqrt(rng.uniform(0.02, 1, n))
    angle = 3.2 * np.pi * t
    X = (1.2 * t * y)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (X + 0.5 * noise * rng.normal(size=(n, 2))).round(3), y


def xor(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four clouds, opposite ones of the same class: the sign of the product of the coordinates."""
    rng = np.random.default_rng(seed)
    corner = np.arange(n) % 4
    signs = np.stack([np.where(corner < 2, 1.0, -1.0), np.where(corner % 2, 1.0, -1.0)], axis=1)
    X = 0.65 * signs + (0.15 + noise) * rng.normal(size=(n, 2))
    return X.round(3), signs[:, 0] * signs[:, 1]


def checkerboard(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The fields of a board of four by four."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.2, 1.2, size=(n, 2))
    field = np.floor((X + 1.2) / 0.6).sum(axis=1)
    return (X + noise * rng.normal(size=(n, 2))).round(3), np.where(field % 2, 1.0, -1.0)


def ellipse(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The inside of a tilted ellipse."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.3, 1.3, size=(n, 2))
    u, v = X @ [0.8, 0.6], X @ [-0.6, 0.8]
    y = np.where((u / 1.1) ** 2 + (v / 0.55) ** 2 < 1, 1.0, -1.0)
    return (X + noise * rng.normal(size=(n, 2))).round(3), y


def hyperbola(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The two sides of a hyperbola against the strip between them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.3, 1.3, size=(n, 2))
    u, v = X @ [0.94, 0.34], X @ [-0.34, 0.94]
    y = np.where((u / 0.5) ** 2 - (v / 0.7) ** 2 > 1, 1.0, -1.0)
    return (X + noise * rng.normal(size=(n, 2))).round(3), y


def parabola(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Above and below a parabola."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.3, 1.3, size=(n, 2))
    y = np.where(X[:, 1] > 1.4 * X[:, 0] ** 2 - 0.7, 1.0, -1.0)
    return (X + noise * rng.normal(size=(n, 2))).round(3), y


def three_clouds(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Clouds in the south-west, the north and the east; the first is one class, the others are the other."""
    rng = np.random.default_rng(seed)
    cloud = np.arange(n) % 3
    centers = np.array([[-0.7, -0.6], [0.0, 0.8], [0.8, -0.1]])
    X = centers[cloud] + (0.2 + noise) * rng.normal(size=(n, 2))
    return X.round(3), np.where(cloud == 0, 1.0, -1.0)


def two_points(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One point of each class, far from each other."""
    return np.array([[-0.8, -0.3], [0.8, 0.3]]), np.array([1.0, -1.0])


#: Generators by the name of the set, with the label in the list.
GENERATORS: dict[str, tuple[str, Callable[[int, float, int], tuple[np.ndarray, np.ndarray]]]] = {
    "circles": ("Circles", circles),
    "moons": ("Moons", moons),
    "spirals": ("Spirals", spirals),
    "xor": ("XOR", xor),
    "checkerboard": ("Checkerboard", checkerboard),
    "ring": ("Ring", ring),
    "ellipse": ("Conic: ellipse", ellipse),
    "hyperbola": ("Conic: hyperbola", hyperbola),
    "parabola": ("Conic: parabola", parabola),
    "blobs": ("Two clouds", blobs),
    "three_clouds": ("Three clouds", three_clouds),
    "two_points": ("Two points", two_points),
}
#: The name of points that were drawn, pasted or read from a file.
OWN = "own"
#: Seeds of training and test sets differ, so that no row is in both.
TEST_SEED = 1_000_003
TEST_ROWS = 500
