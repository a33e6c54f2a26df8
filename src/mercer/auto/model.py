"""What `mercer.fit` returns: a table encoder, a dictionary of features and linear weights, in explicit parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.auto.explain.contributions import (
    Explanation,
    contributions,
    contributions_of_many,
    importances,
    importances_of_many,
)
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import dense, encoded, encoded_rows, mapped_blocks, mapped_rows, named, one_row, opened
from mercer.tables import TableEncoder
from mercer.tables.unseen import Unseen

#: Rows kept in mind while a column is shuffled to see what it is worth: at most, at least, and times columns.
_SAMPLE, _LEAST, _SHUFFLED = 300, 50, 6000
#: From so many columns on, the path of an explanation from row to row would take gigabytes.
_MANY = 1000


class Model:
    """A linear model on explicit features, and how it came about.

    Attributes
    ----------
    task : "classify" or "regress"
    encoder : the fitted `TableEncoder`
    predictor : blocks of features (`predictor.dictionary`), `coef`, `intercept`, and for classes a `temperature`
    classes_ : the classes, or None
    schema : dict of input columns to their kind and role
    baseline : the mean encoded row, from which explanations start

    `mercer.fit` makes one.
    """

    def __init__(self, task: str, encoder: TableEncoder, predictor: Predictor, X: np.ndarray, told: dict, seed=0):
        self.task, self.encoder, self.predictor, self.seed = task, encoder, predictor, seed
        self.classes_ = predictor.classes
        self.baseline = X.mean(axis=0)
        self._told = told
        groups = self.groups
        size = min(len(X), _SAMPLE, max(_LEAST, _SHUFFLED // max(len(groups), 1)))
        places = np.linspace(0, len(X) - 1, size).astype(int)
        if len(X) < X.shape[1]:
            self._importance = importances_of_many(predictor, X[places], groups, seed)
        else:
            self._importance = importances(predictor.scores, X[places], groups, seed)

    def __repr__(self) -> str:
        judged = self._told.get("holdout")
        score = (
            f", {judged['metric']} {judged['model']['value']:.3g} ({judged['model']['low']:.3g} to "
            f"{judged['model']['high']:.3g}) on {judged['n']} rows kept aside"
            if judged
            else ""
        )
        return f"{type(self).__name__}({self.task}: {self._told.get('model', '')}{score})"

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """The encoded columns that each column of the table became."""
        found: dict[str, list[int]] = {}
        for block in self.encoder.blocks_:
            found.setdefault(block.column, []).extend(range(block.start, block.stop))
        return {name: np.array(places) for name, places in found.items()}

    @property
    def schema(self) -> dict[str, dict[str, str]]:
        """Kind and role of each input column."""
        roles = self.encoder.roles_
        return {name: {"kind": kind, "role": roles[name].role} for name, kind in self.encoder.schema_.items()}

    def predict(self, data) -> np.ndarray:
        """Predictions for a path, frame, dict of columns, array or `Source` with the columns of the fit.

        Columns may come in any order. A single row may be a dict (or Series) of its values, and rows a list of such
        dicts. A row gets the same bits alone as among others. Columns that the fit has not seen are left out with a
        warning; a level it has not seen counts as unknown: no indicator is set, and a column of many levels takes the
        mean. A column that is missing, or a value that is not of the column's kind, is an error that names the column
        and the row.
        """
        return self._mapped(data, self.predictor.predict)

    def unseen_categories(self, data) -> dict[str, Unseen]:
        """The columns of the data with levels that the fit has not seen: in how many rows, and the first of them."""
        source = opened(data, self.encoder.schema_, self._known)
        table: Any = getattr(self.encoder, "table", self.encoder)  # texts are scored on top of an encoder of columns
        return table.unseen_categories(named(data, self.encoder.schema_, self._known) if source is None else source)

    def predict_proba(self, data) -> np.ndarray:
        """Probabilities of `classes_`, one column each."""
        if self.classes_ is None:
            raise AttributeError("A model of a quantity has no probabilities; use predict.")
        return self._mapped(data, self.predictor.probabilities)

    def transform(self, data) -> np.ndarray:
        """The explicit features, on which the model is linear: predict is a function of transform(data) @ coef."""
        return self._mapped(data, self.predictor.dictionary.features)

    def get_feature_names_out(self) -> np.ndarray:
        """Names of the columns of `transform`."""
        return np.array(self.predictor.dictionary.names(self.encoder.get_feature_names_out()), dtype=object)

    def explain(self, row, output=None) -> Explanation:
        """What each column of the table contributed to the prediction of one row.

        Shapley values by sampling, measured from the mean row: they add up to the prediction less that of the mean row.
        `output` is the class to explain (the predicted one unless named), or the place of one of several targets. A
        row is a frame or dict of columns of one row, or a dict (or Series) of values.
        """
        x = self._encoded(one_row(row))
        if len(x) != 1:
            raise ValueError(f"explain takes one row, got {len(x)}.")
        groups = self.groups
        if len(groups) > _MANY:
            base, parts = contributions_of_many(self.predictor, x[0], self.baseline, groups, self.seed)
        else:
            base, parts = contributions(self.predictor.scores, x[0], self.baseline, groups, self.seed)
        column, sign, name = self._output(x, output)
        each = {group: float(sign * value) for group, value in zip(groups, parts[:, column], strict=True)}
        start = float(sign * base[column])
        return Explanation(start, start + sum(each.values()), each, name)

    def _output(self, x, output):
        if self.classes_ is None:
            n_outputs = len(self.predictor.intercept)
            if output is not None and output not in range(n_outputs):
                raise ValueError(f"output must be the place of a target, 0 to {n_outputs - 1}, not {output!r}.")
            return int(output or 0), 1.0, output
        name = self.predictor.predict(x)[0] if output is None else output
        place = np.flatnonzero(self.classes_ == name)
        if len(place) == 0:
            raise ValueError(f"{output!r} is none of the classes: {', '.join(map(str, self.classes_))}.")
        if len(self.classes_) > 2:
            return int(place[0]), 1.0, name
        return 0, 1.0 if place[0] == 1 else -1.0, name

    def importance(self) -> dict[str, float]:
        """Share of each column: how far predictions move when it is shuffled among the training rows."""
        return dict(self._importance)

    def report(self) -> dict:
        """Everything the search did, as plain numbers and words."""
        return {**self._told, "importance": self.importance(), "schema": self.schema}

    def save(self, path) -> None:
        """Write the model to a file that holds data and no code; `mercer.load` reads it."""
        from mercer.io import save

        save(self, path)

    def to_onnx(self, path=None, check=True):
        """The model as an ONNX graph, for runtimes without Python; an `onnx.ModelProto`, also written to `path`.

        Inputs are the columns, named as in the table and of shape (rows, 1): numbers in float64, NaN where missing;
        text as strings, "" where missing. Outputs are `prediction` and, for classes, `probabilities`. Columns of
        high cardinality, dates, text and sequences have no translation: ValueError names them.

        Parameters
        ----------
        path : file to write, default=None
        check : bool, frame or dict of columns, default=True
            Run the graph on these rows (True: on made-up ones like those of the fit) and raise ValueError if it
            differs from the model by more than the rounding of float32 can explain.
        """
        from mercer.auto.onnx.export import check_parity, onnx_model
        from mercer.io.onnx import write

        graph = onnx_model(self)
        if check is not False:
            check_parity(self, graph, None if check is True else check)
        if path is not None:
            write(graph, path)
        return graph

    def _encoded(self, data) -> np.ndarray:
        return dense(encoded(self.encoder, data, self._known))

    @property
    def target(self) -> str | None:
        """The column of the table that was learned; None where the targets were given beside it."""
        return self._told.get("target")

    @property
    def _known(self) -> list[str]:
        """Columns that the fit has seen and that are no features: target and weight."""
        return [name for name in (self.target, self._told.get("weight")) if name is not None]

    def _mapped(self, data, function):
        data = one_row(data)
        source = opened(data, self.encoder.schema_, self._known)
        if source is None:
            return mapped_rows(self.encoder, data, function, self._known)
        parts = list(mapped_blocks(self.encoder, source, function))
        return np.concatenate(parts) if parts else function(encoded_rows(self.encoder, source).X)
