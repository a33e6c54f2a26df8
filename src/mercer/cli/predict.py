"""`mercer predict` and `mercer transform`: rows of a file through a model, block by block."""

from __future__ import annotations

from typing import Any

import click

from mercer.cli.keep import keep_option
from mercer.cli.options import engine_options, quiet_option, reading_options
from mercer.cli.streaming import output_option, rows_format_option, stream_rows


@click.command(
    short_help="Predictions of a saved model for the rows of a file.",
    epilog="Example:  mercer predict houses.mercer new.csv --keep id --output prices.csv",
)
@click.argument("model")
@click.argument("data")
@output_option
@rows_format_option
@click.option("--proba", is_flag=True, help="Class probabilities beside the prediction.")
@click.option(
    "--interval",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Prediction intervals of this level, such as 0.9; for classes, sets.",
)
@click.option("--quantiles", is_flag=True, help="All quantiles of a model of --loss quantile beside the prediction.")
@keep_option
@engine_options
@quiet_option
@reading_options
def predict(
    model: str,
    data: str,
    output: str | None,
    form: str | None,
    proba: bool,
    interval: float | None,
    quantiles: bool,
    keep: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Predict the target of each row of DATA with MODEL, as mercer fit wrote it.

    DATA needs the columns MODEL was fitted on; others are ignored. Unseen categories count as unknown, and a note names
    their columns. Rows are read, predicted and written in blocks, in order, so memory does not grow with their number.
    Where rows of DATA contain the target, a note gives the score of the predictions. --keep id,name writes these
    columns before the prediction, --keep all every column. --interval 0.9 adds the columns lower and upper, which
    contain the target of a new row with that probability; for classes the column set, with all classes that may be
    needed for it and | between them. --quantiles adds the columns quantile_0.1 and so on of a model of --loss quantile.
    """
    stream_rows(model, data, output, form, quiet, options, "predict", _Predictions(proba, interval, quantiles), keep)


@click.command(
    short_help="The features of a saved model for the rows of a file.",
    epilog="Example:  mercer transform houses.mercer new.csv --output features.parquet",
)
@click.argument("model")
@click.argument("data")
@output_option
@rows_format_option
@engine_options
@quiet_option
@reading_options
def transform(model: str, data: str, output: str | None, form: str | None, quiet: bool, **options: Any) -> None:
    """Write the explicit features on which MODEL is linear, for each row of DATA."""
    stream_rows(model, data, output, form, quiet, options, "transform", _Features())


class _Predictions:
    """Computes the columns to write, and scores the rows that contain the target."""

    def __init__(self, proba: bool, level: float | None = None, quantiles: bool = False):
        self.proba, self.level, self.quantiles = proba, level, quantiles
        self.known: Any = None

    def check(self, model: Any) -> None:
        """Refuse probabilities of a model that has none."""
        if self.proba and model.classes_ is None:
            raise click.UsageError("This is a regression model, which has no class probabilities: omit --proba.")

    def add(self, model: Any, rows: Any, found: dict[str, Any]) -> None:
        """Score the rows that contain the target."""
        from mercer.auto.holdout.labeled_rows import LabeledRows

        if model.target is not None:
            self.known = self.known or LabeledRows(model.target, model.task)
            self.known.add(rows, found["prediction"])

    def __call__(self, model: Any, rows: Any) -> dict[str, Any]:
        found = {"prediction": model.predict(rows)}
        if self.proba:
            for name, column in zip(model.classes_, model.predict_proba(rows).T, strict=True):
                found[f"probability_{name}"] = column
        if self.quantiles:
            columns = model.predict_quantiles(rows).T
            found |= {f"quantile_{q:g}": each for q, each in zip(model.quantiles, columns, strict=True)}
        return found if self.level is None else found | self._bounds(model, rows)

    def _bounds(self, model: Any, rows: Any) -> dict[str, Any]:
        """Ends of intervals, with the number of the target if there are several; for classes their names."""
        import numpy as np

        if model.classes_ is not None:
            names = [str(name) for name in model.classes_]
            sets = model.predict_set(rows, self.level)
            return {"set": np.array(["|".join(np.compress(each, names)) for each in sets], dtype=object)}
        ends = model.predict_interval(rows, self.level)
        if ends.ndim == 2:
            return {"lower": ends[:, 0], "upper": ends[:, 1]}
        names = [f"{end}_{j}" for j in range(ends.shape[1]) for end in ("lower", "upper")]
        return dict(zip(names, ends.reshape(len(ends), -1).T, strict=True))

    @property
    def notes(self) -> list[str]:
        score = self.known and self.known.summary()
        return [f"{score} (optimistic for rows that the model was fitted on)."] if score else []


class _Features:
    """Computes the columns to write."""

    notes: tuple[str, ...] = ()

    def check(self, model: Any) -> None:
        """Every model has features."""

    def add(self, model: Any, rows: Any, found: dict[str, Any]) -> None:
        """Nothing to note."""

    def __call__(self, model: Any, rows: Any) -> dict[str, Any]:
        found, names = model.transform(rows), model.get_feature_names_out()
        columns: dict[str, Any] = {}
        for name, column in zip(names, (found.toarray() if hasattr(found, "toarray") else found).T, strict=True):
            unique, times = str(name), 2
            while unique in columns:  # the column "c=u" beside the category u of a column c
                unique, times = f"{name}_{times}", times + 1
            columns[unique] = column
        return columns
