"""What a greedy selection leaves behind: its path, the features it chose, and a predictor on them.

Where features other than columns may be chosen, a family (`products.Products`, `lifted.Lifted`) knows what they are:
`describe` and `made_of` a candidate, `sorted` descriptions, and from those `make` features of any rows, and `names`.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.select.base import LinearPredictor, Selector
from mercer.select.greedy import stopping
from mercer.select.greedy.lifted import Lifted
from mercer.select.greedy.products import Products


class ChosenFeatures(LinearPredictor, Selector):
    """The output of a greedy selection: columns, or with candidates of another kind features made of columns."""

    _many_classes = True
    _for_labels = "Say target='classes', or choose loss='logistic'."

    @property
    def _kind(self):
        """What is selected from: None for the columns, a word for products, or a lift."""
        return "pairs" if self.candidates is None and self.interactions == 2 else self.candidates

    @property
    def _family(self):
        if self._kind is None:
            return None
        return Lifted(self.lift_) if hasattr(self, "lift_") else Products(self._kind == "quadratic")

    @property
    def _classifies(self) -> bool:
        return self.loss != "squared" or self.target == "classes"

    def _settle(self, trail, scores, weight, intercept, X=None, candidates=None):
        """Decide how many steps to keep, and set what was learned."""
        if self.stop in ("bic", "aic"):
            outputs = max(1, len(self.classes_) - 1) if self._classifies else 1
            scores = stopping.information(trail, self.stop, self.loss, weight, int(self.fit_intercept), outputs)
        steps = len(trail.units)
        kept = steps if scores is None or steps == 0 else 1 + int(np.argmin(scores[:steps]))
        self.n_steps_ = kept
        self._set_path(trail, scores, candidates)
        made_of = self._sources(trail, X, candidates)
        length = trail.lengths[kept]
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[[j for source in made_of[:length] for j in source]] = True
        self._set_ranking(trail, made_of)
        self._set_outputs(trail, kept, intercept(kept), candidates)

    def _sources(self, trail, X, candidates) -> list[list[int]]:
        """The columns of X that each chosen candidate is made of."""
        if self._family is None:
            return [[j] for j in trail.chosen]
        known = {j: self._family.made_of(X, candidates, j) for j in set(trail.chosen)}
        return [known[j] for j in trail.chosen]

    def _set_outputs(self, trail, kept, intercept, candidates):
        """Weights of columns, or of features that `transform` makes; for two classes one score, for many one each."""
        chosen, weights, family = trail.chosen[: trail.lengths[kept]], trail.weights(kept), self._family
        if family is None:
            places, size = chosen, self.n_features_in_
        else:
            described = [family.describe(candidates, j) for j in chosen]
            self.terms_ = family.sorted(set(described))
            at = {_hashable(term): place for place, term in enumerate(self.terms_.tolist())}
            places, size = [at[term] for term in described], len(self.terms_)
        coef = np.zeros((size, weights.shape[1]))
        np.add.at(coef, places, weights)
        coef, intercept = coef.T, np.asarray(intercept)
        if self._classifies and len(coef) == 2:  # of indicators: their difference is the fit of -1 and +1
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        if self._classifies:
            self._set_weights(coef, intercept)
        else:
            self._set_weights(coef[0], intercept[0])

    def _set_path(self, trail, scores, candidates):
        steps, family = len(trail.units), self._family
        feature = ("feature", np.int64) if family is None else ("feature", np.int64, family.fields)
        self.path_ = np.recarray(steps, dtype=[feature, ("risk", float), ("gain", float), ("score", float)])
        units = trail.units if family is None else [family.describe(candidates, j) for j in trail.units]
        self.path_.feature[:] = np.array(units, dtype=np.int64).reshape(self.path_.feature.shape)
        self.path_.risk[:], self.path_.gain[:] = trail.risks, trail.gains
        self.path_.score[:] = np.nan
        if scores is not None:
            self.path_.score[: len(scores)] = scores[:steps]

    def _set_ranking(self, trail, made_of):
        self.ranking_ = np.full(self.n_features_in_, len(trail.units) + 1)
        for t in reversed(range(len(trail.lengths))):
            for source in made_of[trail.lengths[t - 1] if t else 0 : trail.lengths[t]]:
                self.ranking_[source] = t

    def _apply(self, X):
        return super()._apply(X) if self._family is None else self._family.make(X, self.terms_)

    def get_feature_names_out(self, input_features=None):
        """Names of the chosen features, in the order of `transform`."""
        names = self._input_names(input_features)
        if self._family is not None:
            return self._family.names(names, self.terms_)
        return np.asarray(names, dtype=object)[self.support_]

    def _scores(self, X):
        check_is_fitted(self)
        if self._family is None:
            return super()._scores(X)
        return self._weighed(self._family.make(self._checked_X(X, reset=False), self.terms_), np.atleast_2d(self.coef_))

    @available_if(lambda self: self._kind is None)
    def inverse_transform(self, X):
        """Rows with the chosen columns as given and zeros elsewhere. Features made of columns have no way back."""
        return super().inverse_transform(X)


def _hashable(term):
    return tuple(term) if isinstance(term, list) else term
