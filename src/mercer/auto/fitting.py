"""`mercer.fit`: from a table to a model and an honest score."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
from scipy import sparse

from mercer.auto.blocks import Dictionary, Plain
from mercer.auto.effort import EFFORTS, Clock, Effort
from mercer.auto.encoding import dense
from mercer.auto.judge import judge
from mercer.auto.model import Model
from mercer.auto.predictor import Predictor, learn, learn_again
from mercer.auto.steps import Steps
from mercer.auto.targets import checked_task
from mercer.auto.wide_model import WidePredictor, learn_terms, learned_rows, model_of
from mercer.io import read_table
from mercer.source import Source, split_holdout

#: The share of a time budget that the search may use where its outcome is learned again from all rows.
_SEARCH = 0.65


def fit(
    data,
    target=None,
    *,
    task=None,
    effort="normal",
    time_budget=None,
    max_features=None,
    holdout=0.2,
    roles=None,
    random_state=0,
    progress=None,
) -> Model:
    """Learn a linear model on features found for the data, and score it on rows it has never seen.

    The table is encoded (roles of columns are guessed, target encodings are out of fold). Then five folds, the same
    throughout, choose among boosted trees (one column: their out-of-fold score), piecewise-linear bins, and random
    features of kernels in a learned metric, each block with its own penalty. The result is judged once on the holdout,
    beside the linear model of the plain columns, and learned again on all rows.

    Parameters
    ----------
    data : path, frame, dict of columns, array or Source
    target : name of the target column, or an array for data in memory
    task : {"classify", "regress"} or None
        None takes strings, truth values and whole numbers of at most 20 different values for classes.
    effort : {"fast", "normal", "high"}, default="normal"
    time_budget : float, default=None
        Seconds. Stages that would not fit are left out, and the report says which were tried.
    max_features : int, default=None
        The most features of the model.
    holdout : float, default=0.2
        Share of the rows to judge by; 0 learns from all and reports no score.
    roles : dict of column names to roles, default=None
    random_state : int, default=0
    progress : callable taking a str, default=None
        Told of each step as it starts.

    Returns
    -------
    Model

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.fit(X, y, effort="fast")
    >>> model.predict(X[:3]).tolist()
    [0, 0, 0]
    >>> sorted(model.report()["holdout"])
    ['gain', 'interval', 'linear', 'metric', 'model', 'n']
    """
    chosen, steps = sizes(effort, max_features), Steps(progress)
    # Learning again from all rows repeats the dearest part of the search: a share of the time is kept for it.
    clock = Clock(None if time_budget is None else time_budget * (_SEARCH if holdout else 1.0))
    if not 0 <= holdout < 1:
        raise ValueError(f"holdout must be a share of at least 0 and below 1, not {holdout!r}.")
    with steps("read"):
        source, said = read_table(data, target), []
        _refuse_no_columns(source)
        name = checked_task(source, task, said)
    classify = name == "classify"
    told: dict = {"task": name, "effort": effort, "target": getattr(source, "target", None), "said": said}
    if holdout == 0:
        encoder, rows, predictor = _learn(source, roles, classify, chosen, clock, random_state, steps)
        return model_of(name, encoder, predictor, rows.X, {**told, **account(predictor, steps, encoder)}, random_state)
    train, kept = split_holdout(source, holdout, random_state)
    encoder, rows, predictor = _learn(train, roles, classify, chosen, clock, random_state, steps)
    with steps("holdout"):
        plain = predictor if isinstance(predictor, WidePredictor) else _linear(rows, classify, random_state)
        told["holdout"] = _judged(_Pair(encoder, plain), _Pair(encoder, predictor), kept, name, random_state)
    with steps("learn again from all rows"):
        before = {name: place for place, name in enumerate(encoder.get_feature_names_out())}
        encoder, rows = learned_rows(source, roles, classify, random_state, chosen.most_features)
        places = np.array([before.get(name, -1) for name in encoder.get_feature_names_out()])
        final = _again(predictor, rows, chosen, random_state, places)
    return model_of(name, encoder, final, rows.X, {**told, **account(final, steps, encoder)}, random_state)


def sizes(effort, max_features=None) -> Effort:
    """The sizes of a named effort, held to a number of features."""
    if effort not in EFFORTS:
        raise ValueError(f"effort must be one of {', '.join(EFFORTS)}, not {effort!r}.")
    chosen = EFFORTS[effort]
    if max_features is None:
        return chosen
    if max_features < 1:
        raise ValueError(f"max_features must be positive, not {max_features!r}.")
    return replace(chosen, most_features=int(max_features))


def _refuse_no_columns(source) -> None:
    schema = getattr(source, "schema", None)
    if schema is not None and not schema:
        raise ValueError(f"There is no column beside the target {source.target!r}: nothing to predict it from.")


def _learn(source: Source, roles, classify, effort, clock, seed, steps):
    with steps("encode"):
        encoder, rows = learned_rows(source, roles, classify, seed, effort.most_features)
    if sparse.issparse(rows.X):
        with steps("penalty of the terms"):
            return encoder, rows, learn_terms(rows, classify, seed)
    return encoder, rows, learn(rows, classify, effort, clock, seed, steps)


def _again(predictor, rows, effort, seed, places) -> Predictor:
    """The configuration of a model on all rows; if these are too wide, or no longer so, it is found anew."""
    classify, before = predictor.classes is not None, isinstance(predictor, WidePredictor)
    if sparse.issparse(rows.X):
        return learn_terms(rows, classify, seed, predictor if before else None)
    if before:
        return learn(rows, classify, effort, Clock(), seed, Steps())
    return learn_again(predictor, rows, effort, seed, places)


def _linear(rows, classify, seed) -> Predictor:
    """The linear model of the encoded columns: what everything else is compared with."""
    from mercer.linear import LogisticClassifier, RidgeRegressor

    dictionary = Dictionary([Plain(rows.X.shape[1])])
    X = rows.X.astype(np.float32).astype(np.float64)
    if classify and len(np.unique(rows.y)) < 2:
        return learn(rows, classify, EFFORTS["fast"], Clock(), seed, Steps())
    if classify:
        fitted = LogisticClassifier(random_state=seed, tol=1e-5).fit(X, rows.y)
        return Predictor(dictionary, fitted.coef_.T, fitted.intercept_, fitted.classes_, np.ones(1))
    ridge = RidgeRegressor(random_state=seed).fit(X, rows.y)
    return Predictor(dictionary, ridge.coef_[:, None], np.atleast_1d(ridge.intercept_), None, np.ones(1))


class _Pair:
    """An encoder and a predictor as one thing that predicts raw rows."""

    def __init__(self, encoder, predictor):
        self.encoder, self.predictor = encoder, predictor

    def predict(self, X):
        X = self.encoder.transform(X)
        return self.predictor.predict(X if isinstance(self.predictor, WidePredictor) else dense(X))


def _judged(plain, model, rows, task, seed) -> dict:
    verdict = judge(plain, model, rows, task, random_state=seed)
    return {
        "metric": verdict.metric,
        "n": verdict.n,
        "model": asdict(verdict.second),
        "linear": asdict(verdict.first),
        "gain": asdict(verdict.gain),
        "interval": verdict.interval,
    }


def account(predictor: Predictor, steps: Steps, encoder) -> dict:
    """What was tried, what was kept and what it cost."""
    fields = ("stage", "name", "loss", "seconds", "width", "kept", "why")
    blocks = [
        {"kind": block.kind, "width": block.width, "penalty": float(penalty), "note": getattr(block, "note", "")}
        for block, penalty in zip(predictor.dictionary.blocks, predictor.penalties, strict=True)
    ]
    tried = [*getattr(encoder, "candidates", []), *predictor.candidates]
    return {
        "model": f"linear on {predictor.dictionary.width} explicit features",
        "blocks": blocks,
        "candidates": [{name: getattr(each, name) for name in fields} for each in tried],
        "seconds": dict(steps.log),
        "columns": list(encoder.notes_),
    }
