"""Held-out rows of small fits of every kind."""

import numpy as np
from scipy import sparse

from mercer.auto.budget.clock import Clock
from mercer.auto.budget.effort import EFFORTS
from mercer.auto.budget.progress import Steps
from mercer.auto.diagnostics.held_out import HeldOutRows
from mercer.auto.features.linear import LinearBlock
from mercer.auto.features.union import Features
from mercer.auto.final.predictor import Predictor
from mercer.auto.rows.encoding import dense
from mercer.auto.search.learning import learn
from mercer.auto.text.sparse_model import encode_training_rows, learn_terms
from mercer.source import split_holdout
from mercer.source.holdout import in_holdout
from mercer.source.table import table_in_memory
from mercer.tables import TableEncoder


def fitted(table, y, classify, weight=None, fraction=0.25, roles=None, effort="fast", seed=0):
    """A model of the training rows, diagnosed on the others: (held-out rows, encoded training rows)."""
    source = table_in_memory(table, y, weight)
    train, held_out = split_holdout(source, fraction, seed)
    encoder, encoded = encode_training_rows(train, roles, classify, seed)
    if sparse.issparse(encoded.X):
        predictor = learn_terms(encoded, classify, seed)
        baseline = np.asarray(encoded.X.mean(axis=0)).ravel()
    else:
        predictor = learn(encoded, classify, EFFORTS[effort], Clock(), seed, Steps())
        baseline = encoded.X.mean(axis=0)
    block = held_out.collect()
    X = encoder.transform(block.X)
    X = sparse.csr_matrix(X) if sparse.issparse(encoded.X) else dense(X)
    parts = [(part.start, in_holdout(part, fraction, seed)) for part in source.blocks()]
    positions = np.concatenate([start + np.flatnonzero(mask) for start, mask in parts])
    rows = HeldOutRows(block.X, X, np.asarray(block.y), positions, encoder, predictor, baseline, block.weight, seed)
    return rows, encoded


def linear_rows(X, y, coef, intercept=0.0, classes=None, temperature=1.0, weight=None):
    """Held-out rows of a linear model of given weights on the encoded columns of an array."""
    table = {f"x{j}": column for j, column in enumerate(np.asarray(X, dtype=float).T)}
    return linear_table_rows(table, y, coef, intercept, classes, temperature, weight)


def linear_table_rows(table, y, coef, intercept=0.0, classes=None, temperature=1.0, weight=None, roles=None):
    """The same for a table of columns; a function of the encoder may give the weights."""
    source = table_in_memory(table, y, weight)
    encoder = TableEncoder(roles=roles).fit(source)
    encoded = dense(encoder.transform(source.X))
    coef = np.asarray(coef(encoder) if callable(coef) else coef, dtype=float).reshape(encoded.shape[1], -1)
    predictor = Predictor(
        Features([LinearBlock(encoded.shape[1])]),
        coef,
        np.broadcast_to(np.asarray(intercept, dtype=float), coef.shape[1:]).copy(),
        None if classes is None else np.asarray(classes),
        np.ones(1),
        temperature=temperature,
    )
    n = len(encoded)
    return HeldOutRows(source.X, encoded, np.asarray(y), np.arange(n), encoder, predictor, encoded.mean(axis=0), weight)


def mixed_table(n, rng, missing=True):
    """Numbers, integers, a boolean, categories, one of high cardinality, dates, and missing values."""
    size = rng.normal(size=n)
    city = np.array(["Bern", "Oslo", "Lima", "Rome"], dtype=object)[rng.integers(4, size=n)]
    table = {
        "size": np.where(rng.random(n) < 0.1, np.nan, size) if missing else size,
        "rooms": rng.integers(1, 40, size=n),
        "new": rng.random(n) < 0.5,
        "city": np.where(rng.random(n) < 0.1, None, city) if missing else city,
        "shop": np.array([f"shop {k}" for k in rng.integers(150, size=n)], dtype=object),
        "day": np.datetime64("2020-01-01", "us") + rng.integers(0, 1000, size=n) * np.timedelta64(86_400_000_000, "us"),
    }
    signal = np.nan_to_num(size) + 0.05 * table["rooms"] + (city == "Oslo") * (1 + size)
    return table, signal


def texts(n, rng, words=400, length=8):
    """Texts of random words, and whether the word that decides is in them."""
    vocabulary = np.array([f"w{k}" for k in range(words)], dtype=object)
    good = rng.random(n) < 0.5
    rows = [" ".join([*rng.choice(vocabulary, size=length), "good" if g else "bad"]) for g in good]
    return np.array(rows, dtype=object), good
