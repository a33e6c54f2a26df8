"""Output of a greedy selection: its path, the selected features, and a linear predictor on them.

Candidates other than columns belong to a family (`ProductFamily`, `LiftFamily`), which knows how to `describe` a
candidate, which `source_columns` it depends on, how to sort descriptions, and how to `compute` and name features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.select.base import LinearPredictor, Selector
from mercer.select.greedy import stopping
from mercer.select.greedy.candidates import ColumnCandidates
from mercer.select.greedy.forward import SelectionPath
from mercer.select.greedy.lift_candidates import LiftFamily
from mercer.select.greedy.product_candidates import ProductFamily


class SelectedFeatures(LinearPredictor, Selector):
    """The selected columns, or with other candidates features computed from columns, and a linear predictor."""

    _many_classes = True
    _remedy_for_labels = "Set target='classes' or loss='logistic'."

    @property
    def _candidate_kind(self) -> Any:
        """What is selected from: None for the columns, "pairs" or "quadratic" for products, or a lift."""
        return "pairs" if self.candidates is None and self.interactions == 2 else self.candidates

    @property
    def _family(self) -> Any:
        if self._candidate_kind is None:
            return None
        return LiftFamily(self.lift_) if hasattr(self, "lift_") else ProductFamily(self._candidate_kind == "quadratic")

    @property
    def _classifies(self) -> bool:
        return self.loss != "squared" or self.target == "classes"

    def _set_result(
        self,
        path: SelectionPath,
        scores: np.ndarray | None,
        weight: float,
        intercept: Callable[[int], np.ndarray],
        X: Any = None,
        candidates: ColumnCandidates | None = None,
    ) -> None:
        """Decide how many steps to keep, and set the learned attributes."""
        if self.stop in ("bic", "aic"):
            n_outputs = max(1, len(self.classes_) - 1) if self._classifies else 1
            n_other = int(self.fit_intercept)
            scores = stopping.information_criterion(path, self.stop, self.loss, weight, n_other, n_outputs)
        steps = len(path.units)
        if self.stop == "folds" and scores is not None:
            stopping.refuse_no_scores(scores, steps)
        kept = steps if scores is None or steps == 0 else 1 + int(np.argmin(scores[:steps]))
        self.n_steps_ = kept
        self._set_path(path, scores, candidates)
        columns = self._source_columns(path, X, candidates)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[[j for each in columns[: path.sizes[kept]] for j in each]] = True
        self._set_ranking(path, columns)
        self._set_outputs(path, kept, intercept(kept), candidates)

    def _source_columns(self, path: SelectionPath, X: Any, candidates: ColumnCandidates | None) -> list[list[int]]:
        """Return the columns of X that each selected candidate depends on."""
        if self._family is None:
            return [[j] for j in path.selected]
        known = {j: self._family.source_columns(X, candidates, j) for j in set(path.selected)}
        return [known[j] for j in path.selected]

    def _set_outputs(
        self, path: SelectionPath, kept: int, intercept: np.ndarray, candidates: ColumnCandidates | None
    ) -> None:
        """Set the weights of columns, or of the features that `transform` computes."""
        selected, weights, family = path.selected[: path.sizes[kept]], path.weights(kept), self._family
        if family is None:
            indices, size = selected, self.n_features_in_
        else:
            described = [family.describe(candidates, j) for j in selected]
            self.terms_ = family.sorted(set(described))
            index_of = {_hashable(term): i for i, term in enumerate(self.terms_.tolist())}
            indices, size = [index_of[term] for term in described], len(self.terms_)
        coef = np.zeros((size, weights.shape[1]))
        np.add.at(coef, indices, weights)
        coef, intercept = coef.T, np.asarray(intercept)
        if self._classifies and len(coef) == 2:  # of indicators: their difference is the fit of -1 and +1
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        if self._classifies:
            self._set_weights(coef, intercept)
        else:
            self._set_weights(coef[0], intercept[0])

    def _set_path(self, path: SelectionPath, scores: np.ndarray | None, candidates: ColumnCandidates | None) -> None:
        steps, family = len(path.units), self._family
        feature = ("feature", np.int64) if family is None else ("feature", np.int64, family.fields)
        self.path_ = np.recarray(steps, dtype=[feature, ("risk", float), ("gain", float), ("score", float)])
        units = path.units if family is None else [family.describe(candidates, j) for j in path.units]
        self.path_.feature[:] = np.array(units, dtype=np.int64).reshape(self.path_.feature.shape)
        self.path_.risk[:], self.path_.gain[:] = path.risks, path.gains
        self.path_.score[:] = np.nan
        if scores is not None:
            self.path_.score[: len(scores)] = scores[:steps]

    def _set_ranking(self, path: SelectionPath, columns: list[list[int]]) -> None:
        self.ranking_ = np.full(self.n_features_in_, len(path.units) + 1)
        for t in reversed(range(len(path.sizes))):
            for each in columns[path.sizes[t - 1] if t else 0 : path.sizes[t]]:
                self.ranking_[each] = t

    def _apply(self, X: Any) -> Any:
        return super()._apply(X) if self._family is None else self._family.compute(X, self.terms_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the selected features, in the order of `transform`."""
        names = self._input_names(input_features)
        if self._family is not None:
            return self._family.names(names, self.terms_)
        return np.asarray(names, dtype=object)[self.support_]

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if self._family is None:
            return super()._scores(X)
        Z = self._family.compute(self._checked_X(X, reset=False), self.terms_)
        return self._linear_scores(Z, np.atleast_2d(self.coef_))

    @available_if(lambda self: self._candidate_kind is None)
    def inverse_transform(self, X: Any) -> Any:
        """Return rows with the selected columns as given and zeros elsewhere; only for candidates that are columns."""
        return super().inverse_transform(X)


def _hashable(term: Any) -> Any:
    return tuple(term) if isinstance(term, list) else term
