"""What `mercer.fit` returns: a table encoder, blocks of features and linear weights, in explicit parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer.auto.conformal.predictions import interval_function, quantile_function, set_function
from mercer.auto.diagnostics.model_score import model_score
from mercer.auto.diagnostics.schema import FORMAT
from mercer.auto.diagnostics.summary import block_reports, summary
from mercer.auto.diagnostics.verdict import verdict
from mercer.auto.diagnostics.without_rows import without_rows
from mercer.auto.explain.contributions import importances, importances_of_many
from mercer.auto.explain.explanation import Explanation, Explanations
from mercer.auto.explain.rows import explain_rows
from mercer.auto.final.loaded import check_applies
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import dense, encoded, encoded_rows, mapped_blocks, mapped_rows, named, one_row, opened
from mercer.auto.rows.task import TASKS
from mercer.auto.updates.verbs import UpdatableModel
from mercer.tables import TableEncoder
from mercer.tables.columns import columns_by_name
from mercer.tables.unseen import Unseen

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from mercer.auto.shift.comparison import DataComparison

#: Rows in which a column is shuffled for its importance: at most, at least, and times columns.
_MAX_SHUFFLED, _MIN_SHUFFLED, _SHUFFLED_ENTRIES = 300, 50, 6000


class Model(UpdatableModel):
    """A linear model on explicit features, and how it was found; `mercer.fit` returns one.

    Attributes
    ----------
    task : "classification" or "regression"
    encoder : the fitted `TableEncoder`
    predictor : blocks of features (`predictor.features`), `coef`, `intercept`, and for classes a `temperature`
    classes_ : the classes, or None
    baseline : the mean encoded row, from which explanations start
    """

    _former = {"_told": "_report"}
    #: What `compare` knows about the training rows: no rows, but counts and moments.
    reference: Any = None

    def __init__(
        self,
        task: str,
        encoder: TableEncoder,
        predictor: Predictor,
        X: np.ndarray,
        report: dict[str, Any],
        seed: int = 0,
    ):
        self.task, self.encoder, self.predictor, self.seed = task, encoder, predictor, seed
        self.classes_ = predictor.classes
        self.baseline = X.mean(axis=0)
        self._report = report
        groups = self.groups
        size = min(len(X), _MAX_SHUFFLED, max(_MIN_SHUFFLED, _SHUFFLED_ENTRIES // max(len(groups), 1)))
        index = np.linspace(0, len(X) - 1, size).astype(int)
        if len(X) < X.shape[1]:
            self._importance = importances_of_many(predictor, X[index], groups, seed)
        else:
            self._importance = importances(predictor.scores, X[index], groups, seed)

    @classmethod
    def _from_former(cls, state: dict[str, Any]) -> Self:
        made = object.__new__(cls)
        report = dict(state["_report"])
        report |= {"notes": report.pop("said", []), "task": TASKS[state["task"]]}
        vars(made).update(state | {"task": TASKS[state["task"]], "_report": report})
        for block in made.predictor.features.blocks:
            block.set_n_columns(len(made.baseline))
        return made

    def __repr__(self) -> str:
        return summary(self.report())

    def _repr_html_(self) -> str:
        """The first screen of the report, for notebooks."""
        from mercer.report.html import render_first_screen

        return render_first_screen(self.report())

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """The encoded columns of each column of the table."""
        return columns_by_name(self.encoder.blocks_)

    @property
    def schema(self) -> dict[str, dict[str, str]]:
        """Kind and role of each input column."""
        roles = self.encoder.roles_
        return {name: {"kind": kind, "role": roles[name].role} for name, kind in self.encoder.schema_.items()}

    def predict(self, data: Any) -> np.ndarray:
        """Predictions for a path, frame, dict of columns, array or `Source` with the columns of the fit.

        Columns may come in any order. A single row may be a dict (or Series) of its values, and rows a list of such
        dicts. The prediction of a row does not depend on the other rows. Columns that the fit has not seen are ignored
        with a warning. An unseen category counts as unknown: no indicator is set, and a column of high cardinality
        takes the mean. A missing column, or a value of another type, is an error that names the column and the row.
        """
        return self.map_encoded(data, self.predictor.predict)

    def score(self, data: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The metric of the fit (accuracy or R2 by default), errors negated: greater is better, as in scikit-learn.

        `y` None is the target column of the data. A metric given as a function is not kept: accuracy or R2 instead.
        """
        return model_score(self, data, y, sample_weight)

    def unseen_categories(self, data: Any) -> dict[str, Unseen]:
        """The columns of the data with unseen categories: in how many rows, and the first of them."""
        source = opened(data, self.encoder.schema_, self._ignored)
        table: Any = getattr(self.encoder, "table", self.encoder)  # a `ScoredEncoder` has a `TableEncoder`
        return table.unseen_categories(named(data, self.encoder.schema_, self._ignored) if source is None else source)

    def predict_proba(self, data: Any) -> np.ndarray:
        """Probabilities of `classes_`, one column each."""
        if self.classes_ is None:
            raise AttributeError("A regression model has no probabilities; use predict.")
        return self.map_encoded(data, self.predictor.probabilities)

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The quantiles that `predict_quantiles` returns; none unless the model was fitted with `loss="quantile"`."""
        return () if self.predictor.response is None else self.predictor.response.levels

    def predict_quantiles(self, data: Any) -> np.ndarray:
        """The quantiles of a model with `loss="quantile"`, in increasing order: an array (rows, quantiles)."""
        return self.map_encoded(data, quantile_function(self.predictor))

    def predict_interval(self, data: Any, level: float = 0.9) -> np.ndarray:
        """Lower and upper ends that contain the target of a new row with probability `level`: an array (rows, 2).

        CV+ (Barber, Candes, Ramdas, Tibshirani 2021): bounds on the residuals of the models without each fold, divided
        by a scale that follows the row. Of several targets each has its own interval: (rows, targets, 2). Ends are
        infinite where the rows of the fit are too few for the level. `report()["intervals"]` is the coverage that was
        measured on the holdout.
        """
        return self.map_encoded(data, interval_function(self.predictor, level))

    def predict_set(self, data: Any, level: float = 0.9, per_class: bool = False) -> np.ndarray:
        """Classes that contain that of a new row with probability `level`: booleans (rows, classes) as in `classes_`.

        All classes whose probability is at least a bound, by split conformal prediction (Sadinle, Lei, Wasserman
        2019), and in any case the most probable one. `per_class` gives each class its own bound, so that rows of every
        class are covered with that probability.
        """
        return self.map_encoded(data, set_function(self.predictor, level, per_class))

    def transform(self, data: Any) -> np.ndarray:
        """The explicit features, on which the model is linear: predict is a function of transform(data) @ coef."""
        return self.map_encoded(data, self.predictor.features.features)

    def get_feature_names_out(self) -> np.ndarray:
        """Names of the columns of `transform`."""
        return np.array(self.predictor.features.names(list(self.encoder.get_feature_names_out())), dtype=object)

    def explain(self, rows: Any, output: Any = None) -> Explanation | Explanations:
        """Contributions of the columns of the table to the predictions of rows: one `Explanation` or `Explanations`.

        Shapley values by sampling, relative to the mean row of the training data. Of an explainable model they are its
        points, relative to the mean score, and pairs of columns are named "a x b". The baseline and the contributions
        add up to what `predict` returns, for classes to the scores behind `predict_proba`: with two classes
        log(p / (1 - p)), with more the s of p = exp(s) / (sum over the classes of exp(their scores)).

        Parameters
        ----------
        rows : data in any form that `predict` takes
            One row gives an `Explanation`, several give a sequence of them.
        output : a class, or the index of one of several targets, default=None
            What is explained; None takes the predicted class of each row.
        """
        found = self.explain_all(rows, output)
        return found[0] if len(found) == 1 else found

    def explain_all(self, rows: Any, output: Any = None) -> Explanations:
        """`explain` as a sequence, also of a single row."""
        return explain_rows(self, self.map_encoded(rows, lambda X: X), output)

    def scorecard(self) -> Any:
        """The points of an explainable model: a frame of feature, bin or category, and points.

        The score of a row is the sum of the points of its bins: of the intercept, of one bin or category of each
        column, and of one cell of each pair "a x b". It is the prediction, or the log-odds of the second of two
        classes; for several classes the column `class` says of which class the points are. `lower` < x <= `upper` are
        the edges of a bin of numbers, `error` is the standard error of the points (jackknife over the folds), and
        `rows` the number of training rows. The frame is of pandas if that is installed, else of pyarrow.

        Examples
        --------
        >>> import numpy as np, mercer
        >>> x = np.random.default_rng(0).uniform(size=(200, 2))
        >>> model = mercer.fit(x, x[:, 0] + x[:, 1] ** 2, explainable=True, effort="fast")
        >>> model.scorecard().columns.tolist()
        ['feature', 'bin', 'points', 'error', 'rows', 'lower', 'upper']
        """
        from mercer.auto.glass.scorecard import scorecard_frame

        return scorecard_frame(self)

    def importance(self) -> dict[str, float]:
        """Permutation importance: how much scores change when a column is shuffled, as fractions of all columns."""
        return dict(self._importance)

    def report(self, rows: bool = True) -> dict[str, Any]:
        """The report as plain numbers and words: see `mercer.auto.diagnostics.schema.Report` for its keys.

        `rows=False` leaves out the values of single rows that the report shows.
        """
        from mercer import __version__

        found = {"format": FORMAT, "mercer": __version__, "target": None, **self._report}
        found["candidates"] = [
            {"measure": "squared error", "on_all_rows": False, **tried} for tried in found.get("candidates", [])
        ]
        found |= {
            "blocks": block_reports(self.predictor, found.pop("block_gains", None)),
            "model": f"linear on {self.predictor.features.width:,} explicit features",
            "classes": None if self.classes_ is None else [str(label) for label in self.classes_],
            "importance": self.importance(),
            "schema": self.schema,
        }
        updates = None if self.state is None else self.state.section(int(found.get("rows", 0)))
        if updates is not None:
            found |= {"updates": updates, "notes": [*found.get("notes", []), updates["sentence"]]}
        found["verdict"] = verdict(found)
        return found if rows else without_rows(found)

    def report_html(self, path: Any = None, rows: bool = True) -> str:
        """The report as one HTML page that needs no other file and no network; also written to `path`.

        `rows=False` leaves out the values of single rows that the report shows.
        """
        from mercer.io.atomic_file import write_text
        from mercer.report.html import render_html

        page = render_html(self.report(rows), rows=rows)
        if path is not None:
            write_text(path, page)
        return page

    def compare(self, new: Any, *, n_rows: int = 10, **reading: Any) -> DataComparison:
        """Test whether new rows follow the distribution of the training rows: has the data changed?

        Whole rows are compared by the kernel two-sample test, columns by Kolmogorov and Smirnov or chi-square: see
        `mercer.compare`. Where the new rows contain the target, the score of the model on them is beside that of the
        holdout. The model keeps no row for this: of up to 20,000 training rows it has the counts of the cells of each
        column (at least 10 rows in each, or single values that repeat) and mean and covariance of 256 features.

        Parameters
        ----------
        new : data in any form that `predict` takes
        n_rows : int, default=10
            How many of the strangest new rows to name.
        reading : options of `mercer.read_table` for paths

        Returns
        -------
        DataComparison
            `p_value`, `columns` and `rows` (frames), `score`, `to_dict()`.
        """
        from mercer.auto.shift.compare import compare_with_model

        return compare_with_model(self, new, n_rows, **reading)

    @property
    def report_weight(self) -> str | None:
        """The column of weights of the fit; None if there was none, or an array."""
        return self._report.get("weight")

    def record_origin(self, command: str | None, files: list[dict[str, Any]]) -> None:
        """Record in the report the command that made the model, and name, rows and SHA-256 of the files it read."""
        known = self._report.get("reproduction", {})
        self._report = {**self._report, "reproduction": {**known, "command": command, "data": list(files)}}

    def to_pipeline(self) -> Pipeline:
        """The model as a fitted scikit-learn pipeline of public estimators: encoder, union of features, linear model.

        It predicts the same. Its parts can be inspected, cloned and fitted again.
        """
        from mercer.auto.pipeline import pipeline_of

        return pipeline_of(self)

    def save(self, path: Any) -> None:
        """Write the model to a file that holds data and no code; `mercer.load` reads it."""
        from mercer.io import save

        save(self, path)

    def to_onnx(self, path: Any = None, check: Any = True) -> Any:
        """The model as an ONNX graph, for runtimes without Python; an `onnx.ModelProto`, also written to `path`.

        Inputs are the columns, named as in the table and of shape (rows, 1): numbers in float64, NaN where missing;
        text as strings, "" where missing. Outputs are `prediction` and, for classes, `probabilities`. Columns of
        high cardinality, dates, text and sequences have no translation: ValueError names them.

        Parameters
        ----------
        path : file to write, default=None
        check : bool, frame or dict of columns, default=True
            Run the graph on these rows (True: on generated ones like those of the fit) and raise ValueError if it
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

    _check_applies = check_applies

    def _encoded(self, data: Any) -> np.ndarray:
        return dense(encoded(self.encoder, data, self._ignored))

    @property
    def target(self) -> str | None:
        """The target column of the table; None where targets were given as an array."""
        return self._report.get("target")

    @property
    def _ignored(self) -> list[str]:
        """Columns of the fit that are no features: target, weight, groups and time."""
        names = (self.target, *(self._report.get(option) for option in ("weight", "groups", "time")))
        return [name for name in names if name is not None and name not in self.encoder.schema_]

    def map_encoded(self, data: Any, function: Callable) -> Any:
        """function(encoded rows) for data in any form that `predict` takes."""
        data = one_row(data)
        source = opened(data, self.encoder.schema_, self._ignored)
        if source is None:
            return mapped_rows(self.encoder, data, function, self._ignored)
        parts = list(mapped_blocks(self.encoder, source, function))
        return np.concatenate(parts) if parts else function(encoded_rows(self.encoder, source).X)
