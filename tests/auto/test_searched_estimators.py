"""The search as scikit-learn estimators: the conventions, mixed tables, and what a fit leaves behind."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.auto import MercerClassifier, MercerRegressor


@parametrize_with_checks([MercerRegressor(effort="fast"), MercerClassifier(effort="fast")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
