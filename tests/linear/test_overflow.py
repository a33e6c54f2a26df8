"""Values whose squares overflow are refused with a remedy; tiny and constant ones have an answer."""

import numpy as np
import pytest

from mercer.linear import HingeClassifier, LogisticClassifier, Perceptron, RidgeClassifier

CLASSIFIERS = [
    LogisticClassifier(),
    LogisticClassifier([0.1, 1.0]),
    HingeClassifier(),
    Perceptron(average=True),
    RidgeClassifier(1.0),
    RidgeClassifier([0.1, 1.0], scoring="loo"),
]
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)


def problem():
    X = np.random.default_rng(0).normal(size=(100, 3))
    return X, X[:, 0] > 0.2


@every_classifier
def test_huge_values_are_refused_with_a_remedy(classifier):
    X, y = problem()
    with pytest.raises(ValueError, match="squares of these values overflow"):
        classifier.fit(1e200 * X, y)


@every_classifier
@pytest.mark.parametrize("scale", [0.0, 1e-200], ids=["constant", "tiny"])
def test_columns_that_say_nothing_leave_the_majority(classifier, scale):
    X, y = problem()
    X = X * scale + (scale == 0.0)
    assert classifier.fit(X, y).score(X, y) >= 0.4
