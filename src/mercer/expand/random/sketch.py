"""Polynomial kernels by TensorSketch (Pham and Pagh 2013), with Hadamard instead of Fourier transforms.

A CountSketch C adds every coordinate, with a random sign, to a random one of P buckets. Of p independent ones

    H C_1 x * ... * H C_p x     (entry by entry, H the Hadamard matrix of signs, P a power of two)

is H times a CountSketch of x (x) ... (x) x, whose bucket for (j_1, .., j_p) is the exclusive or of p buckets where
Pham and Pagh, with Fourier transforms, have their sum. As H preserves inner products up to a factor P, there is no
need to transform back. Every entry alone is a product of p sums of randomly signed coordinates, and its inner products
estimate <x, z>^p without bias. So any D entries, of one transform or of several, make D columns: divided by sqrt(D),
each estimates the same part of the kernel. Variance at most (2 + 3^p)/D ||x||^{2p} ||z||^{2p} (Avron, Nguyen and
Woodruff 2014). From degree 4 on the factor 3^p is avoided by a binary tree of sketches of degree 2 and 3 (Ahle et al.,
Oblivious sketching of high-degree polynomial kernels, 2020).

The variance is that of the whole kernel, offset included, so terms that can be written exactly are not sketched. With
t = scale <x, z> and offset c,

    (c + t)^2 = c^2 + 2 c t + t^2,    (c + t)^3 = c^3 + 3 c^2 t + t^2 (3 c + t)

and of these the constant and the linear term take 1 + d columns without any error; `polynomial_map` sketches only the
rest. For rows of norm 1 at right angles and c = 1 that leaves a variance of 1/D at degree 2 and 16/D at degree 3 where
independent signs for all of the kernel have 15/D and 63/D.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from mercer import _numeric
from mercer._runtime.loaded import require
from mercer.expand.random.count_sketch import CountSketch
from mercer.expand.random.maps import ConcatenatedMap, ConstantMap, FeatureMap, IdentityMap
from mercer.expand.random.seed import Seed
from mercer.kernels import Polynomial

#: The degree up to which all factors are convolved at once.
FLAT = 3
#: Largest fraction of the columns for exact terms.
EXACT = 0.25
#: Numbers of a block of sketches: small enough for the second-level cache.
BLOCK = 2**16
#: Entries of the longest transform: longer ones leave the second-level cache.
LONGEST = 2**14


def polynomial_map(
    kernel: Polynomial, d: int, n_components: int, weight: float, seed: Seed, balanced: bool
) -> FeatureMap:
    """The features of sqrt(weight) times the kernel, of degree >= 1: exact terms and a sketch, or all of it a sketch.

    Exact terms need enough columns, and are not used if all columns must have the same magnitude (`balanced`).
    """
    p, c = kernel.degree, kernel.offset
    if p not in (2, 3) or c == 0 or balanced or 1 + d > EXACT * n_components:
        return TensorSketch(kernel, d, n_components, weight, seed)
    exact = [ConstantMap(1, weight * c**p), IdentityMap(d, d, weight * p * c ** (p - 1) * kernel.scale)]
    rest = Polynomial(p, offset=0.0 if p == 2 else 3 * c, scale=kernel.scale)
    both = ConcatenatedMap([*exact, TensorSketch(rest, d, n_components - 1 - d, weight, seed, plain=2)])
    both.how = TensorSketch.how
    return both


class TensorSketch(FeatureMap):
    """sqrt(weight) times the sketch of (scale <x, z>)^plain (offset + scale <x, z>)^(degree - plain), degree >= 1.

    The offset is one more coordinate, sqrt(offset), of all factors but the first `plain`, which is 0 from degree 4 on.
    """

    how = ("tensor sketch",)
    plain = 0

    def __init__(
        self, kernel: Polynomial, d: int, n_components: int, weight: float, seed: Seed, plain: int = 0
    ) -> None:
        self.offset, self.scale, self.plain = kernel.offset, kernel.scale, plain
        self.n_components, self.weight = n_components, weight
        self.tree = _Tree(kernel.degree, d + (self.offset > 0), n_components, seed)

    def apply(self, X: Any, out: np.ndarray) -> None:
        step = max(1, BLOCK // min(self.n_components, LONGEST))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            self.tree.write(_Rows(X[rows], self.scale, self.offset, self.plain), np.sqrt(self.weight), out[rows])


class _Rows:
    """A block of rows sqrt(scale) x with sqrt(offset) appended, before any is made."""

    def __init__(self, X: Any, scale: float, offset: float, plain: int = 0) -> None:
        self.X, self.scale, self.offset, self.plain = X, scale, offset, plain

    def sketched(self, sketch: CountSketch, factor: int) -> np.ndarray:
        out = sketch.of(self.X, np.sqrt(self.scale))
        if self.offset > 0 and factor >= self.plain:
            bucket, sign = sketch.buckets[-1], sketch.signs[-1]
            out[:, bucket] += out.dtype.type(sign * np.sqrt(self.offset))
        return out


class _Tree:
    """The sketch of degree p: of p times the rows, or of degree 2 of two smaller trees.

    `sketches` has a list of CountSketches, one for each factor, for every transform.
    """

    def _check_loaded(self) -> None:
        require(isinstance(self.D, int) and self.D > 0, "a sketch has no columns")

    def __init__(self, degree: int, d: int, D: int, seed: Seed) -> None:
        self.D = D
        self.branches = []
        if degree > FLAT:
            self.branches = [_Tree(p, d, D, seed.child(i)) for i, p in enumerate((degree - degree // 2, degree // 2))]
        width, count = (D, 2) if self.branches else (d, degree)
        rng = seed.rng()
        self.sketches = [[CountSketch.draw(width, P, rng) for _ in range(count)] for P in transforms(D)]

    def write(self, rows: _Rows, factor: float, out: np.ndarray) -> None:
        """Write `factor` times the features of a block of rows."""
        below = [branch.features(rows) for branch in self.branches]
        start = 0
        for sketches in self.sketches:
            columns = out[:, start : start + sketches[0].n_buckets]  # the last transform may have unused entries
            transformed = _transformed(sketches, rows, below)
            product = reduce(lambda product, other: np.multiply(product, other, out=product), transformed)
            scale = factor * sketches[0].n_buckets ** (len(sketches) / 2) / np.sqrt(self.D)
            np.multiply(product[:, : columns.shape[1]], scale, out=columns, dtype=out.dtype)
            start += columns.shape[1]

    def features(self, rows: _Rows) -> np.ndarray:
        """The features of a block of rows, shape (rows, D)."""
        out = np.empty((rows.X.shape[0], self.D), dtype=rows.X.dtype)
        self.write(rows, 1.0, out)
        return out


def transforms(D: int) -> list[int]:
    """Lengths of the transforms that D columns are taken from: powers of two, with at most a quarter unused.

    >>> transforms(4096), transforms(1000), transforms(700)
    ([4096], [1024], [512, 256])
    """
    lengths: list[int] = []
    left = D
    while left > 0:
        above = 1 << (left - 1).bit_length()
        fits = above <= max(4 * left / 3, D / 2)
        lengths.append(min(above if fits else above // 2, LONGEST))
        left -= lengths[-1]
    return lengths


def _transformed(sketches: list[CountSketch], rows: _Rows, below: list[np.ndarray]) -> Iterator[np.ndarray]:
    """H C / sqrt(P) of the rows, or of the features below, for each CountSketch C."""
    for i, sketch in enumerate(sketches):
        transformed = sketch.of(below[i]) if below else rows.sketched(sketch, i)
        _numeric.hadamard(transformed, transformed)
        yield transformed
