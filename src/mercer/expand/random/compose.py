"""From a kernel to a drawn feature map, by recursion over the structure of the kernel.

shift-invariant (compositions included)   Fourier features              sqrt(mass/m) cos, sin
constant, linear                          the columns themselves, or a sketch of degree 1
polynomial                                TensorSketch, beside the constant and linear terms
all subsets, ANOVA                        polynomials of randomly signed columns
sum                                       the maps of its terms, side by side
product                                   products of the columns of two independent maps
scale, restriction, normalization         sqrt(scale) z,  z(x[columns]),  z(x) / sqrt(k(x, x))
linear map of the rows                    Fourier features of A omega, or z(x A)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from mercer.expand.random.allocation import allocate_columns
from mercer.expand.random.fourier import FourierMap, fourier_map
from mercer.expand.random.maps import (
    ConcatenatedMap,
    ConstantMap,
    FeatureMap,
    IdentityMap,
    LinearImageMap,
    NormalizedMap,
    ProductMap,
    RestrictedMap,
)
from mercer.expand.random.sampling import applicable
from mercer.expand.random.seed import Seed
from mercer.expand.random.signs import AllSubsetsMap, AnovaMap
from mercer.expand.random.sketch import TensorSketch, polynomial_map
from mercer.kernels import (
    AllSubsets,
    Anova,
    Constant,
    Kernel,
    Linear,
    Normalized,
    Polynomial,
    Product,
    Restricted,
    Scaled,
    Sum,
    Through,
)
from mercer.kernels.rows import column_positions
from mercer.kernels.through import linear_image


@dataclass(frozen=True)
class MapPlan:
    """The map to draw: d input columns, n output columns, for `weight` times the kernel.

    `balanced` requires that all columns have the same expected magnitude, as factors of a product must.
    """

    d: int
    n: int
    sampling: str
    pairing: str
    seed: Seed
    weight: float = 1.0
    balanced: bool = False

    def child(self, i: int, **changes: Any) -> MapPlan:
        return replace(self, seed=self.seed.child(i), **changes)


def prepare(kernel: Kernel, plan: MapPlan) -> FeatureMap:
    """Draw the feature map of the kernel."""
    if plan.weight == 0:
        return ConstantMap(plan.n, 0.0)
    node = _NODES.get(type(kernel))
    if node is None or (type(kernel) in (Product, Normalized) and is_stationary(kernel)):
        return _fourier(kernel, plan)
    return node(kernel, plan)


def check_kernel(kernel: Kernel) -> None:
    """Raise for a kernel without random features, naming the part and an alternative."""
    if type(kernel) in _NODES:
        for part in _named_parts(kernel).values():
            check_kernel(part)
    elif not is_stationary(kernel):
        raise ValueError(
            f"{kernel!r} has no random features: it is neither a function of x - z with a known spectrum nor built "
            "from products of columns. Use Landmarks(kernel=...), which needs nothing but values of the kernel."
        )


def is_stationary(kernel: Kernel) -> bool:
    """Whether the kernel is a function of x - z with a spectral law to draw from."""
    try:
        return kernel.mass >= 0
    except TypeError:
        return False


def bind_columns(kernel: Kernel, d: int, names: list[Any] | None = None) -> Kernel:
    """The kernel with the columns of every restriction as a list of positions; raises for columns that do not exist."""
    if isinstance(kernel, Restricted):
        columns = np.atleast_1d(column_positions(kernel.columns, d, names)).tolist()
        below = None if names is None else [names[j] for j in columns]
        return Restricted(bind_columns(kernel.kernel, len(columns), below), columns)
    if isinstance(kernel, Through):
        kernel.check_width(d)
        return replace(kernel, kernel=bind_columns(kernel.kernel, kernel.n_columns_out))
    parts = {name: bind_columns(part, d, names) for name, part in _named_parts(kernel).items()}
    return replace(kernel, **parts) if parts else kernel


def _named_parts(kernel: Any) -> dict[str, Kernel]:
    names = [name for name in ("left", "right", "kernel") if hasattr(kernel, name)]
    return {name: getattr(kernel, name) for name in names}


# one function per kind of node


def _fourier(kernel: Any, plan: MapPlan) -> FeatureMap:
    sampling = applicable(kernel, plan.sampling)
    return fourier_map(kernel, plan.n, plan.d, plan.weight, sampling, plan.pairing, plan.seed)


def _constant(kernel: Any, plan: MapPlan) -> FeatureMap:
    return ConstantMap(plan.n, plan.weight * kernel.value)


def _linear(kernel: Any, plan: MapPlan) -> FeatureMap:
    if plan.d <= plan.n and not plan.balanced:
        return IdentityMap(plan.d, plan.n, plan.weight)
    return TensorSketch(Polynomial(1, offset=0.0), plan.d, plan.n, plan.weight, plan.seed)


def _polynomial(kernel: Any, plan: MapPlan) -> FeatureMap:
    if kernel.degree == 0:
        return ConstantMap(plan.n, plan.weight)
    return polynomial_map(kernel, plan.d, plan.n, plan.weight, plan.seed, plan.balanced)


def _all_subsets(kernel: Any, plan: MapPlan) -> FeatureMap:
    return AllSubsetsMap(kernel.scale, plan.d, plan.n, plan.weight, plan.seed)


def _anova(kernel: Any, plan: MapPlan) -> FeatureMap:
    if kernel.degree == 0:
        return ConstantMap(plan.n, plan.weight)
    return AnovaMap(kernel.degree, plan.d, plan.n, plan.weight, plan.seed)


def _scaled(kernel: Any, plan: MapPlan) -> FeatureMap:
    return prepare(kernel.kernel, replace(plan, weight=plan.weight * kernel.scale))


def _restricted(kernel: Any, plan: MapPlan) -> FeatureMap:
    part = prepare(kernel.kernel, replace(plan, d=len(kernel.columns)))
    return RestrictedMap(part, kernel.columns, plan.d)


def _normalized(kernel: Any, plan: MapPlan) -> FeatureMap:
    return NormalizedMap(prepare(kernel.kernel, replace(plan, weight=1.0)), kernel.kernel, plan.weight)


def _through(kernel: Any, plan: MapPlan) -> FeatureMap:
    part = prepare(kernel.kernel, replace(plan, d=kernel.n_columns_out))
    if isinstance(part, FourierMap):  # <omega, x A> = <A omega, x>
        return FourierMap(linear_image(part.frequencies, kernel.transposed), part.shift, part.scale, *part.how)
    return LinearImageMap(part, np.asarray(kernel.matrix, dtype=np.float64))


def _sum(kernel: Any, plan: MapPlan) -> FeatureMap:
    terms = _gathered(kernel)
    masses = [weight * (term.mass if is_stationary(term) else 1.0) for term, weight in terms]
    if len(terms) > plan.n:
        return _sum_at_random(terms, masses, plan)
    exact_sizes = [None if plan.balanced else _exact_width(term, plan.d) for term, _ in terms]
    are_fourier = [is_stationary(term) and not isinstance(term, Constant) for term, _ in terms]
    in_pairs = [is_fourier and plan.pairing == "cos-sin" for is_fourier in are_fourier]
    counts = allocate_columns(plan.n, masses, exact_sizes, in_pairs)
    parts = [
        prepare(term, plan.child(i, n=count, weight=plan.weight * weight))
        for i, ((term, weight), count) in enumerate(zip(terms, counts, strict=True))
    ]
    unused = plan.n - sum(counts)
    return ConcatenatedMap([*parts, ConstantMap(unused, 0.0)] if unused else parts)


def _sum_at_random(terms: list[tuple[Kernel, float]], masses: list[float], plan: MapPlan) -> FeatureMap:
    """For fewer columns than terms: one term per column, drawn in proportion to its mass p and divided by n p."""
    probabilities = np.array(masses) / sum(masses)
    drawn = plan.seed.rng().choice(len(terms), size=plan.n, p=probabilities)
    parts = []
    for i, t in enumerate(drawn):
        term, weight = terms[t]
        parts.append(prepare(term, plan.child(i, n=1, weight=plan.weight * weight / (plan.n * probabilities[t]))))
    return ConcatenatedMap(parts)


def _gathered(kernel: Any) -> list[tuple[Kernel, float]]:
    """The terms with their weights, constants merged, without terms of weight 0."""
    terms = _terms(kernel)
    constant = sum(weight * term.value for term, weight in terms if isinstance(term, Constant))
    terms = [(term, weight) for term, weight in terms if weight > 0 and not isinstance(term, Constant)]
    if constant > 0 or not terms:
        terms.append((Constant(constant), 1.0))
    return terms


def _terms(kernel: Any, weight: float = 1.0) -> list[tuple[Kernel, float]]:
    """The kernel as a list of (term, weight), sums and scales opened up."""
    if isinstance(kernel, Sum):
        return _terms(kernel.left, weight) + _terms(kernel.right, weight)
    if isinstance(kernel, Scaled):
        return _terms(kernel.kernel, weight * kernel.scale)
    return [(kernel, weight)]


def _exact_width(kernel: Any, d: int) -> int | None:
    """Number of columns with which the map of the kernel is exact, or None."""
    if isinstance(kernel, Constant):
        return 1
    if isinstance(kernel, Restricted):
        return _exact_width(kernel.kernel, len(kernel.columns))
    return d if isinstance(kernel, Linear) else None


def _product(kernel: Any, plan: MapPlan) -> FeatureMap:
    factors = _factors(kernel)
    stationary = [factor for factor in factors if is_stationary(factor)]
    others = [factor for factor in factors if not is_stationary(factor)]
    kernels = ([reduce(Product, stationary)] if stationary else []) + others
    maps = [prepare(part, plan.child(i, weight=1.0, balanced=True)) for i, part in enumerate(kernels[1:], start=1)]
    first = prepare(kernels[0], plan.child(0, balanced=True))
    orders = (plan.seed.child(len(kernels) + i).rng().permutation(plan.n) for i in range(len(maps)))
    return reduce(lambda left, right: ProductMap(left, *right), zip(maps, orders, strict=True), first)


def _factors(kernel: Any) -> list[Kernel]:
    if isinstance(kernel, Product):
        return _factors(kernel.left) + _factors(kernel.right)
    return [kernel]


_NODES = {
    Constant: _constant,
    Linear: _linear,
    Polynomial: _polynomial,
    AllSubsets: _all_subsets,
    Anova: _anova,
    Scaled: _scaled,
    Restricted: _restricted,
    Normalized: _normalized,
    Through: _through,
    Sum: _sum,
    Product: _product,
}
