"""Mercer: features that make linear models strong.

Every public name of the subpackages is here as well: `mercer.Lasso` is `mercer.select.Lasso`. Names load on first use,
so `import mercer` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

# Type checkers know this name; importing `typing` for it would double the cost of `import mercer`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mercer.auto import *
    from mercer.bounds import *
    from mercer.expand import *
    from mercer.io import *
    from mercer.kernels import *
    from mercer.learn import *
    from mercer.linear import *
    from mercer.machines import *
    from mercer.normalize import *
    from mercer.project import *
    from mercer.select import *
    from mercer.source import *
    from mercer.stats import *
    from mercer.tables import *
    from mercer.text import *

    __version__: str

#: The public names of each subpackage: the `__all__` of each, listed here so that nothing has to be imported.
_PUBLIC = {
    "auto": (
        "Comparison DataComparison Explanation Explanations LiftSearch LiftTrial MercerClassifier MercerRegressor "
        "Model Steps compare compare_lifts evaluate fit"
    ),
    "bounds": (
        "Certificate DistanceCertificate HashingRisk KernelCertificate certify certify_distances fourier_dimension "
        "fourier_variance hashing_risk jl_dimension jl_interval sparse_nonzeros"
    ),
    "expand": "ColumnPicker Landmarks ParabolicLift PolynomialLift ProductLift RandomFeatures SubsetLift lift",
    "io": "MISSING Dialect load read read_table save",
    "kernels": (
        "AllSubsets Anova Cauchy Constant Custom ExponentialPower Gaussian Kernel KernelParameter Laplace Linear "
        "Matern MercerReport Mismatch Normalized OnSubsets Overlap Polynomial Precomputed Product "
        "RationalQuadratic Restricted Scaled Sinc Spectrum Stationary Subsequence SubsetTree Sum Through "
        "WeightedDegree check_mercer kernel_by_name repair"
    ),
    "learn": (
        "PCA AdditiveTerms Changes ClusterFeatures KernelScore LearnedMetric PatchWhitening PiecewiseLinear "
        "SparseCoding SupervisedBins TargetEncoding TreeFeatures extract_patches"
    ),
    "linear": "HingeClassifier LogisticClassifier Perceptron RidgeClassifier RidgeRegressor",
    "machines": "KernelHinge KernelKMeans KernelPCA KernelPerceptron KernelRegressor NotMercerWarning",
    "normalize": "Center Clip Impute Log OneHot Quantile Sigmoid Standardize UnitRange",
    "project": "FeatureHashing GaussianProjection HadamardProjection SparseProjection",
    "select": (
        "AdaBoost BestSubset FilterSelector GreedySelector KnockoffSelector L1Constrained Lasso "
        "OrthogonalMatchingPursuit StabilitySelector compare_hypotheses discoveries knn_mutual_information lasso_path "
        "sparsify sparsify_risk"
    ),
    "source": (
        "Accumulator Columns DelayedSource Engine EngineError ExecutorEngine MemorySource ParquetSource Source "
        "StreamSource TableSource as_engine in_holdout listening split_holdout"
    ),
    "stats": "Counts Extremes Gram LabelCounts LabelGram LossAt LossesAt Moments Sample Statistic Together",
    "tables": (
        "Aggregates CategoryCrosses ColumnBlock ColumnPairs DateDifferences Frequencies Role TableEncoder guess_roles"
    ),
    "text": "Collisions TextFeatures stop_languages stop_list",
}
_HOMES = {name: package for package, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted([*_PUBLIC, *_HOMES])


if not TYPE_CHECKING:  # so that type checkers report misspelled names

    def __getattr__(name: str) -> Any:
        if name in _PUBLIC:
            return import_module(f"mercer.{name}")
        if name in _HOMES:
            value = getattr(import_module(f"mercer.{_HOMES[name]}"), name)
        elif name == "__version__":
            from importlib.metadata import version

            value = version("mercer")
        else:
            # With `obj` set, Python's own traceback does not add a second suggestion.
            raise AttributeError(f"module 'mercer' has no attribute {name!r}.{_hint(name)}", name=name, obj=None)
        globals()[name] = value
        return value


def _hint(name: str) -> str:
    """Suggest the public name closest to a misspelled one."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches

    spelled = {known.lower(): known for known in __all__}
    close = get_close_matches(name.lower(), spelled, n=1)
    return f" Did you mean {spelled[close[0]]!r}?" if close else ""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
