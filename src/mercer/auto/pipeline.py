"""A model as a scikit-learn pipeline of Mercer's public estimators."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer._runtime.errors import MercerError
from mercer.linear import LogisticClassifier, RidgeRegressor

if TYPE_CHECKING:
    from mercer.auto.final.predictor import Predictor
    from mercer.auto.model import Model


def pipeline_of(model: Model) -> Pipeline:
    """Encoder, union of the blocks' transformers, rounding of the features to float32, and the linear model."""
    if model.predictor.response is not None:
        raise MercerError(
            f"The {model.predictor.response.loss} loss has no estimator of scikit-learn's kind that predicts the same.",
            remedy="Use the model itself, or to_onnx.",
        )
    steps: list[tuple[str, Any]] = [("encode", _without_default_names(model.encoder))]
    if not sparse.issparse(model.predictor.features.features(np.zeros((1, len(model.baseline))))):
        steps += [
            ("dense", FunctionTransformer(to_dense, accept_sparse=True)),
            ("features", model.predictor.features.to_union()),
            ("round", FunctionTransformer(rounded)),
        ]
    return Pipeline([*steps, ("linear", _deciding(linear_model(model.predictor), model.predictor))])


def _deciding(linear: Any, predictor: Predictor) -> Any:
    """The linear model with the threshold of the model, where it has one."""
    rule = predictor.decision
    if rule is None or predictor.classes is None:
        return linear
    if rule.threshold is None:
        raise MercerError(
            "The decision rule of a model of several classes has no equivalent in a pipeline of scikit-learn:",
            remedy="use the model itself, or its ONNX graph.",
        )
    deciding = FixedThresholdClassifier(
        linear, threshold=rule.threshold, pos_label=predictor.classes[1], response_method="predict_proba"
    )
    deciding.estimator_ = linear
    return deciding


def _without_default_names(encoder: Any) -> Any:
    """The encoder of an array without the names that its columns were given, so that it takes arrays again."""
    names = getattr(encoder, "feature_names_in_", None)
    if names is None or list(names) != [f"x{j}" for j in range(len(names))]:
        return encoder
    made = copy(encoder)
    del made.feature_names_in_
    return made


def to_dense(X: Any) -> np.ndarray:
    """Encoded rows as an array of float64."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def rounded(X: np.ndarray) -> np.ndarray:
    """Features rounded to float32, in which the model was fitted; products with the weights are in float64."""
    return np.asarray(X, dtype=np.float32).astype(np.float64)


def linear_model(predictor: Predictor) -> RidgeRegressor | LogisticClassifier:
    """The weights as a fitted public linear model."""
    coef, intercept = predictor.coef.T, np.asarray(predictor.intercept, dtype=np.float64)
    if predictor.classes is None:
        one = len(coef) == 1
        blocks = predictor.features.slices()
        ridge = RidgeRegressor(alpha=1.0, blocks=blocks, block_penalties=predictor.penalties.tolist())
        ridge.coef_, ridge.intercept_ = (coef[0], intercept[0]) if one else (coef, intercept)
        ridge.n_features_in_ = coef.shape[1]
        return ridge
    logistic = LogisticClassifier(predictor.alpha)
    logistic.coef_, logistic.intercept_ = coef / predictor.temperature, intercept / predictor.temperature
    logistic.classes_, logistic.n_features_in_, logistic.temperature_ = predictor.classes, coef.shape[1], 1.0
    return logistic
