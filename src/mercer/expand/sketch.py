"""Polynomial kernels by TensorSketch (Pham and Pagh 2013), left in the Fourier domain.

A CountSketch C adds every coordinate, with a random sign, to a random one of D buckets. The circular convolution of
p independent CountSketches of x is a CountSketch of x (x) ... (x) x, so its inner products estimate <x, z>^p without
bias. It is computed as a product of Fourier transforms. As the transform preserves inner products, there is no need
to transform back: the features here are the real and imaginary parts of

    w_f prod_q F[C_q x]_f,  f = 0..D/2,   w_f = sqrt(2/D), or sqrt(1/D) where the transform is real,

D columns in all, whose inner products are those of the sketch of Pham and Pagh; one of p + 1 transforms is saved, and
every column carries the same share of the kernel. Variance at most (2 + 3^p)/D ||x||^{2p} ||z||^{2p} (Avron, Nguyen
and Woodruff 2014). From degree 4 on the factor 3^p is avoided by a binary tree of sketches of degree 2 and 3 (Ahle et
al., Oblivious sketching of high-degree polynomial kernels, 2020).

The variance is that of the whole kernel, offset included, so what is known exactly had better not be sketched. With t =
scale <x, z> and offset c,

    (c + t)^2 = c^2 + 2 c t + t^2,    (c + t)^3 = c^3 + 3 c^2 t + t^2 (3 c + t)

and of these the constant and the linear term take 1 + d columns without any error; `polynomial_map` sketches only the
rest. For rows of norm 1 at right angles and c = 1 that leaves a variance of 1/D in the place of 15/D at degree 2, and 16/D
in the place of 63/D at degree 3.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from scipy import fft

from mercer.expand.count_sketch import CountSketch
from mercer.expand.maps import Columns, FeatureMap, Flat, SideBySide
from mercer.kernels import Polynomial

#: The degree up to which all factors are convolved at once.
FLAT = 3
#: The part of the columns that exact terms may take: long rows, of which the sketch is all that matters, lose no more.
EXACT = 0.25
#: Numbers of a block of sketches: small enough for the second-level cache.
BLOCK = 2**17


def polynomial_map(kernel: Polynomial, d: int, n_components: int, weight: float, seed, spread: bool) -> FeatureMap:
    """The features of sqrt(weight) times the kernel, of degree >= 1: exact terms and a sketch, or all of it a sketch.

    The exact terms need columns enough, and are out of place where all columns are to matter alike (`spread`).
    """
    p, c = kernel.degree, kernel.offset
    if p not in (2, 3) or c == 0 or spread or 1 + d > EXACT * n_components:
        return TensorSketch(kernel, d, n_components, weight, seed)
    exact = [Flat(1, weight * c**p), Columns(d, d, weight * p * c ** (p - 1) * kernel.scale)]
    rest = Polynomial(p, offset=0.0 if p == 2 else 3 * c, scale=kernel.scale)
    both = SideBySide([*exact, TensorSketch(rest, d, n_components - 1 - d, weight, seed, plain=2)])
    both.how = TensorSketch.how
    return both


class TensorSketch(FeatureMap):
    """sqrt(weight) times the sketch of (scale <x, z>)^plain (offset + scale <x, z>)^(degree - plain), degree >= 1.

    The offset is one more coordinate, sqrt(offset), of all factors but the first `plain` (of none but 0 from degree 4 on).
    """

    how = ("tensor sketch",)
    plain = 0

    def __init__(self, kernel: Polynomial, d: int, n_components: int, weight: float, seed, plain: int = 0):
        self.offset, self.scale, self.plain = kernel.offset, kernel.scale, plain
        self.n_components, self.weight = n_components, weight
        self.tree = _Tree(kernel.degree, d + (self.offset > 0), n_components, seed)

    def apply(self, X, out):
        step = max(1, BLOCK // self.n_components)
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            spectrum = self.tree.spectrum(_Rows(X[rows], self.scale, self.offset, self.plain))
            self._write(spectrum, out[rows])

    def _write(self, spectrum, out):
        """The real values of the transform first, then its other values as (real, imaginary)."""
        D = self.n_components
        one, half = np.sqrt(self.weight / D), D // 2
        n_real = 2 - D % 2
        out[:, :n_real] = spectrum.real[:, [0, half][:n_real]] * one
        numbers = spectrum.view(spectrum.real.dtype)
        np.multiply(numbers[:, 2 : 2 + D - n_real], np.sqrt(2.0) * one, out=out[:, n_real:], dtype=out.dtype)


class _Rows:
    """A block of rows sqrt(scale) x with sqrt(offset) appended, before any is made."""

    def __init__(self, X, scale, offset, plain=0):
        self.X, self.scale, self.offset, self.plain = X, scale, offset, plain

    def sketched(self, sketch: CountSketch, factor: int) -> np.ndarray:
        out = sketch.of(self.X, np.sqrt(self.scale))
        if self.offset > 0 and factor >= self.plain:
            bucket, sign = sketch.buckets[-1], sketch.signs[-1]
            out[:, bucket] += out.dtype.type(sign * np.sqrt(self.offset))
        return out


class _Tree:
    """The sketch of degree p: p CountSketches of the rows, or a sketch of degree 2 of two smaller trees."""

    def __init__(self, degree: int, d: int, D: int, seed):
        self.D = D
        self.branches = []
        if degree > FLAT:
            self.branches = [_Tree(p, d, D, seed.child(i)) for i, p in enumerate((degree - degree // 2, degree // 2))]
        width, count = (D, 2) if self.branches else (d, degree)
        rng = seed.rng()
        self.sketches = [CountSketch.draw(width, D, rng) for _ in range(count)]

    def spectrum(self, rows: _Rows) -> np.ndarray:
        """Fourier transform of the sketch of a block of rows, shape (rows, D // 2 + 1)."""
        # One worker: the pool over blocks is the only parallel layer.
        transformed = (fft.rfft(sketched, axis=1, overwrite_x=True, workers=1) for sketched in self._sketched(rows))
        return reduce(lambda product, factor: np.multiply(product, factor, out=product), transformed)

    def _sketched(self, rows):
        if not self.branches:
            yield from (rows.sketched(sketch, factor) for factor, sketch in enumerate(self.sketches))
            return
        for branch, sketch in zip(self.branches, self.sketches, strict=True):
            below = fft.irfft(branch.spectrum(rows), n=self.D, axis=1, overwrite_x=True, workers=1)
            yield sketch.of(below)
