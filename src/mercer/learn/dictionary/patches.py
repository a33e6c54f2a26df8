"""Image patches as rows, and their whitening for clusters and dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from mercer._numeric.block import Block
from mercer._numeric.linalg import dense
from mercer._runtime.checks import check_whole
from mercer.base import StreamingTransformer
from mercer.learn.pca.scatter import Scatter
from mercer.linear.ridge.overflow import refuse_overflow


def extract_patches(images: Any, size: int = 6, n_patches: int | None = None, random_state: int = 0) -> np.ndarray:
    """Square patches of images as rows: (patches, size * size * channels).

    Use it before `PatchWhitening` and `SparseCoding` or `ClusterFeatures`, on small images. A random `n_patches` of
    some ten thousand is enough to learn; all patches of n images take n height width size^2 numbers. For photographs
    prefer features of a pretrained network.

    Parameters
    ----------
    images : array (n, height, width) or (n, height, width, channels)
    size : int, default=6
    n_patches : int or None, default=None
        Number of patches drawn at random positions, with replacement; None takes all, image by image, row by row.
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import extract_patches
    >>> extract_patches(np.arange(9.0).reshape(1, 3, 3), size=2)
    array([[0., 1., 3., 4.],
           [1., 2., 4., 5.],
           [3., 4., 6., 7.],
           [4., 5., 7., 8.]])
    """
    images = np.asarray(images)
    check_whole("size", size)
    if images.ndim not in (3, 4) or min(images.shape[1:3]) < size:
        raise ValueError(
            f"images must be (n, height, width) or (n, height, width, channels), at least {size} pixels high and wide; "
            f"the shape is {images.shape}."
        )
    windows = np.lib.stride_tricks.sliding_window_view(images, (size, size), axis=(1, 2))
    if images.ndim == 4:
        windows = np.moveaxis(windows, 3, -1)  # channels last, as in the images
    positions = windows.shape[:3]
    if n_patches is None:
        return windows.reshape(int(np.prod(positions)), -1)
    check_whole("n_patches", n_patches)
    drawn = np.random.default_rng(random_state).integers(0, int(np.prod(positions)), n_patches)
    return windows[np.unravel_index(drawn, positions)].reshape(n_patches, -1)


@dataclass(frozen=True)
class _ContrastScatter(Scatter):
    """The scatter of rows after their contrast is normalized."""

    contrast: float = 0.0

    def of(self, block: Block) -> Any:
        if len(block) == 0:
            return self
        return super().of(block.with_X(normalized(block.X, self.contrast)))


class PatchWhitening(ClassNamePrefixFeaturesOutMixin, StreamingTransformer):
    """Contrast normalization, then ZCA whitening: z = V (Lambda + eps)^(-1/2) V' (n(x) - mean).

    n(x) = (x - mean of x) / sqrt(variance of x + contrast) removes the brightness and contrast of each patch; V and
    Lambda are the eigenvectors and eigenvalues of the covariance of n(x). Whitening removes the correlations
    of neighboring pixels; without it, clusters and atoms are low-pass filters (Coates, Ng and Lee 2011). One pass;
    supports `partial_fit` and `merge`.

    Use it on patches of images before clusters or a dictionary: it removes brightness, contrast and the correlation of
    neighbors, which would fill the first atoms. For columns of a table use `Standardize` or `PCA`. It costs one pass
    and d^3 operations for patches of d pixels.

    Parameters
    ----------
    contrast : float, default=10.0
        Added to the variance of a patch, so that noise in flat patches is not amplified: 10 suits pixels 0 to 255.
    eps : float, default=0.1
        Added to the eigenvalues: a low-pass filter.

    Attributes
    ----------
    mean_ : array
    whitening_ : array (features, features), symmetric

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.learn import PatchWhitening
    >>> patches = np.random.default_rng(0).uniform(0, 255, size=(500, 16)).cumsum(axis=1)
    >>> white = PatchWhitening(eps=1e-6).fit_transform(patches)
    >>> np.cov(white.T, ddof=0)[:2, :3].round(3).tolist()  # the identity less 1 / 16: each patch sums to 0
    [[0.937, -0.063, -0.063], [-0.063, 0.937, -0.063]]
    """

    def __init__(self, contrast: float = 10.0, eps: float = 0.1):
        self.contrast = contrast
        self.eps = eps

    def _check_parameters(self) -> None:
        for name in ("contrast", "eps"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)!r}.")

    def _empty(self) -> Scatter:
        return _ContrastScatter(contrast=float(self.contrast))

    def _finish(self, learned: Any) -> None:
        refuse_overflow(learned.S)
        self.mean_ = learned.mean
        values, V = dense.eigh(learned.S / learned.weight)
        self.whitening_ = (V / np.sqrt(np.maximum(values, 0.0) + self.eps)) @ V.T

    def _apply(self, X: Any) -> Any:
        Z = normalized(X, self.contrast)
        return (Z - self.mean_.astype(Z.dtype)) @ self.whitening_.astype(Z.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_


def normalized(X: Any, contrast: float) -> np.ndarray:
    """Each row less its mean, over the root of its variance plus `contrast`."""
    X = X.toarray() if hasattr(X, "toarray") else X
    with np.errstate(over="ignore", invalid="ignore"):
        Z = X - X.mean(axis=1, keepdims=True)
        deviation = np.sqrt(np.mean(Z * Z, axis=1, keepdims=True) + Z.dtype.type(contrast))
        refuse_overflow(deviation)
        return Z / deviation
