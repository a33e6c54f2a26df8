"""Column-wise transformations: scaling, clipping, ranks, one-hot encoding, imputation."""

from typing import TYPE_CHECKING

from mercer._runtime.lazy import lazy_names

if TYPE_CHECKING:
    from mercer.normalize.affine import Center, Standardize, UnitRange
    from mercer.normalize.impute import Impute
    from mercer.normalize.onehot import OneHot
    from mercer.normalize.quantile import Quantile
    from mercer.normalize.squash import Clip, Log, Sigmoid

__all__ = ["Center", "Clip", "Impute", "Log", "OneHot", "Quantile", "Sigmoid", "Standardize", "UnitRange"]

if not TYPE_CHECKING:  # quantiles of columns need no scikit-learn
    _HOMES = {"affine": "Center Standardize UnitRange", "squash": "Clip Log Sigmoid"}
    _HOMES |= {"impute": "Impute", "onehot": "OneHot", "quantile": "Quantile"}
    __getattr__ = lazy_names(__name__, {name: home for home, names in _HOMES.items() for name in names.split()})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
