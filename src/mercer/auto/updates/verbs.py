"""The verbs of a model for rows that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from mercer._runtime.blas import SingleThreadedVerbs

if TYPE_CHECKING:
    from mercer.auto.model import Model


class UpdatableModel(SingleThreadedVerbs):
    """A model whose linear part can learn more rows, and forget some."""

    #: What `update` and `forget` know about the training rows: sums over them, and hashes.
    state: Any = None

    def update(self, data: Any, target: Any = None, weight: Any = None, **reading: Any) -> Self:
        """Add rows to the linear part of the model, in place, without a new search; the model is returned.

        For regression the result is that of ridge regression on all rows, old and new, with all penalties chosen again.
        For classes old rows enter by the second-order expansion of their loss at the present weights, new rows exactly,
        and penalties stay. Encodings, trees, bins, metrics, intervals and the scores on the holdout are those of the
        fit: `report()["updates"]` says how many rows they have not seen. If anything is wrong with the rows, among them
        a class that the fit has not seen, the model stays as it was.

        Parameters
        ----------
        data : rows with the target, in any form that `mercer.fit` takes
        target, weight : names of columns, or arrays, default=None
            None takes the columns of the fit.
        reading : options of `mercer.read_table` for paths
        """
        from mercer.auto.updates.apply import update_model

        update_model(cast("Model", self), data, target, weight, **reading)
        return self

    def forget(self, data: Any, target: Any = None, weight: Any = None, **reading: Any) -> Self:
        """Take rows of the fit, or of updates, out of the linear part of the model, in place; the model is returned.

        Rows are recognized by the hashes of their values, target and weight; a row that the model has not seen is an
        error, and the model stays as it was. Only the linear part forgets: what encodings, trees, bins and metrics have
        learned from the rows, they keep. To remove every trace, fit again without the rows. Parameters as in `update`.
        """
        from mercer.auto.updates.apply import forget_in_model

        forget_in_model(cast("Model", self), data, target, weight, **reading)
        return self
