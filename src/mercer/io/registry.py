"""The closed list of classes a model file may name. Nothing else can be asked for, whatever the file says.

A name is the module below `mercer` and the class. A class that moved is found by its old name too: old files load.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

#: Module below `mercer`: its classes.
CLASSES = {
    "auto.blocks": ["Dictionary", "Pieces", "Plain", "Products", "Score", "TreeColumns", "Waves"],
    "auto.chosen_columns": ["ChosenColumns"],
    "auto.encoding": ["QuickNumbers"],
    "auto.equations": ["Scored"],
    "auto.estimators": ["MercerClassifier", "MercerRegressor"],
    "auto.forest": ["Forest"],
    "auto.model": ["Model"],
    "auto.predictor": ["Predictor"],
    "auto.scored": ["ColumnScore", "ScoredEncoder"],
    "auto.search": ["Found"],
    "auto.trials": ["Candidate"],
    "auto.wide": ["WideLinear"],
    "auto.wide_model": ["WideDictionary", "WideModel", "WidePredictor"],
    "base": ["NotSaved"],
    "expand.count_sketch": ["CountSketch"],
    "expand.fourier": ["StructuredWaves", "Waves"],
    "expand.kernel_lift": ["KernelLift"],
    "expand.landmarks": ["Landmarks"],
    "expand.lift_nodes": ["NormalizedPart", "ProductPart", "RestrictedPart", "ScaledPart", "SumPart"],
    "expand.lift_parts": ["Columns", "ConstantPart", "LinearPart", "MonomialPart", "OverlapPart"],
    "expand.maps": ["Chosen", "Columns", "Flat", "Products", "SideBySide", "Unit"],
    "expand.monomials": ["Monomials"],
    "expand.parabolic": ["ParabolicLift"],
    "expand.polynomial": ["PolynomialLift"],
    "expand.random_features": ["RandomFeatures"],
    "expand.signs": ["AllSubsetsMap", "AnovaMap", "Signs"],
    "expand.sketch": ["TensorSketch", "_Tree"],
    "expand.structured": ["StructuredFrequencies"],
    "expand.subsets": ["SubsetLift"],
    "expand.whitening": ["Whitening"],
    "kernels.algebra": ["Normalized", "Product", "Restricted", "Scaled", "Sum"],
    "kernels.custom": ["Precomputed"],
    "kernels.discrete": ["Overlap"],
    "kernels.dot": ["AllSubsets", "Anova", "Constant", "Linear", "Polynomial"],
    "kernels.letters": ["Alphabet", "AnyAlphabet"],
    "kernels.mismatches": ["Neighborhood"],
    "kernels.norms": ["ExponentialPower", "Laplace", "Sinc"],
    "kernels.radial": ["Cauchy", "Gaussian", "Matern", "RationalQuadratic"],
    "kernels.strings": ["Mismatch", "Spectrum", "Subsequence", "WeightedDegree"],
    "kernels.through": ["Through"],
    "kernels.trees": ["Forest", "SubsetTree"],
    "kernels.windows": ["Pattern", "Windows"],
    "learn.binning": ["Binning"],
    "learn.boosting": ["BoostedTrees"],
    "learn.clusters": ["ClusterFeatures"],
    "learn.coding": ["Coder"],
    "learn.ensembles": ["Forest"],
    "learn.metric": ["LearnedMetric"],
    "learn.patches": ["PatchWhitening"],
    "learn.pca": ["PCA"],
    "learn.piecewise": ["PiecewiseEncoding", "PiecewiseLinear"],
    "learn.repair": ["Subspace"],
    "learn.sparse_coding": ["SparseCoding"],
    "learn.supervised_bins": ["SupervisedBins"],
    "learn.target_encoding": ["TargetEncoding"],
    "learn.trees": ["TreeFeatures"],
    "linear.hinge": ["HingeClassifier"],
    "linear.logistic": ["LogisticClassifier"],
    "linear.perceptron": ["Perceptron"],
    "linear.ridge": ["RidgeClassifier", "RidgeRegressor"],
    "machines.budget": ["Board", "Forgetron", "Oldest", "Projectron", "Span", "Unlimited"],
    "machines.hinge": ["KernelHinge"],
    "machines.kmeans": ["KernelKMeans"],
    "machines.pca": ["KernelPCA"],
    "machines.perceptron": ["KernelPerceptron"],
    "machines.regressor": ["KernelRegressor"],
    "normalize.affine": ["Center", "Standardize", "UnitRange"],
    "normalize.impute": ["Impute"],
    "normalize.onehot": ["OneHot"],
    "normalize.quantile": ["Quantile"],
    "normalize.squash": ["Clip", "Log", "Sigmoid"],
    "project.gaussian": ["GaussianProjection"],
    "project.hadamard": ["HadamardProjection"],
    "project.hashing": ["FeatureHashing"],
    "project.sparse": ["SparseProjection"],
    "select.boosting": ["AdaBoost"],
    "select.filters": ["FilterSelector"],
    "select.greedy": ["GreedySelector"],
    "select.knockoffs": ["KnockoffSelector"],
    "select.l1_constrained": ["L1Constrained"],
    "select.lasso": ["Lasso", "LassoPath"],
    "select.pursuit": ["OrthogonalMatchingPursuit"],
    "select.stability": ["StabilitySelector"],
    "select.stumps": ["Stumps"],
    "select.subset": ["BestSubset"],
    "tables.columns": ["ColumnBlock", "Indicators", "MissingFlag", "Squashed"],
    "tables.dates": ["DateParts"],
    "tables.encoder": ["TableEncoder"],
    "tables.levels": ["Frequency", "TargetMeans"],
    "tables.roles": ["Role"],
    "tables.words": ["Positions", "Terms"],
    "text.analysis": ["Analysis"],
    "text.features": ["TextFeatures"],
    "text.lookup": ["TermLookup"],
    "text.rows": ["Counting", "Hashing", "Weights"],
    "text.stemming": ["Stems"],
    "text.vocabulary": ["Terms", "Vocabulary"],
}

#: Where classes are now that files may still name by where they were.
MOVED = {
    "auto.boosting.Forest": "auto.forest.Forest",
    "auto.penalties.Scored": "auto.equations.Scored",
    "auto.search.Candidate": "auto.trials.Candidate",
    "learn.boosting.Binning": "learn.binning.Binning",
}


def name_of(kind: type) -> str | None:
    """The name under which a class is saved, or None if it cannot be."""
    name = f"{kind.__module__.removeprefix('mercer.')}.{kind.__qualname__}"
    return name if kind.__module__.startswith("mercer.") and name in _known() else None


def class_named(name) -> type:
    """The class of that name, or of the name it has now, if it is in the list."""
    name = MOVED.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in _known():
        raise ValueError(f"It names the class {name!r}, which this version of Mercer does not know: upgrade mercer.")
    module, _, kind = name.rpartition(".")
    return getattr(import_module(f"mercer.{module}"), kind)


@cache
def _known() -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module, names in CLASSES.items() for name in names)
