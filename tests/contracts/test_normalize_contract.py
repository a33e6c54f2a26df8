"""What every map of `mercer.normalize` promises, over a table of all of them with default and edge parameters."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.normalize import Center, Clip, Impute, Log, OneHot, Quantile, Sigmoid, Standardize, UnitRange

MAPS = [
    Center(),
    UnitRange(),
    UnitRange(clip=True),
    Standardize(),
    Standardize(with_mean=False),
    Clip(),
    Clip(bound=0.5),
    Sigmoid(),
    Sigmoid(slope=30.0),
    Log(),
    Log(offset=1e-3),
    Quantile(),
    Quantile(n_quantiles=2, output="normal"),
    Quantile(sample_size=7),
    OneHot(),
    OneHot(max_levels=1),
    OneHot(sparse_output=False, max_levels=2),
    Impute(),
    Impute(strategy="mean", indicators="all"),
    Impute(strategy="constant", fill=-1.0, indicators=False),
]


@parametrize_with_checks(MAPS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
