"""Reading CSV against pandas and polars, and encoding tables against scikit-learn's encoders."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pandas as pd

from benchmarks.harness import measure, show, size, threads
from mercer.io import read_table
from mercer.tables import TableEncoder

ROWS = int(os.environ.get("MERCER_BENCH_ROWS", size("200000", "20000")))


def run():
    frame = _table(ROWS)
    with tempfile.TemporaryDirectory() as folder, threads(1):
        path = os.path.join(folder, "rows.csv")
        frame.to_csv(path, index=False)
        megabytes = os.path.getsize(path) / 1e6
        _check_the_same(path, frame)
        title = f"reading {ROWS:,} rows of {frame.shape[1]} mixed columns, {megabytes:.0f} MB of CSV"
        show(title, _race_reading(path), "types and values are those that were written")
        same = "numbers as those of RobustScaler, squashed, to 0.1; one more column: the frequency of the city"
        show("encoding them for a linear model", _race_encoding(frame), same)


def _table(n) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=n) for i in range(6)} | {f"n{i}": rng.integers(0, 1000, n) for i in range(3)}
    columns["sex"] = rng.choice(["f", "m"], n)
    columns["city"] = [f"c{i}" for i in rng.integers(0, 3000, n)]
    columns["when"] = np.datetime64("2020-01-01T00:00", "us") + rng.integers(0, 10**6, n).astype("m8[m]")
    columns["y"] = rng.normal(size=n)
    return pd.DataFrame(columns)


def _check_the_same(path, frame):
    """Check that Mercer's column types and values are those that were written."""
    source = read_table(path)
    first = next(source.blocks()).X
    assert source.n_rows == len(frame)
    peer = pd.read_csv(path, parse_dates=["when"], nrows=len(first))
    for name in frame:
        assert np.array_equal(first.array(name), frame[name].to_numpy()[: len(first)])
        assert np.array_equal(peer[name].to_numpy(), frame[name].to_numpy()[: len(first)])


def _race_reading(path):
    return measure(
        {
            "pandas.read_csv (dates named)": lambda: pd.read_csv(path, parse_dates=["when"]),
            "polars.read_csv (types of 1,000 rows)": lambda: _polars(path),
            "mercer read_table (types of all rows, on disk)": lambda: read_table(path),
        },
        "pandas.read_csv (dates named)",
    )


def _polars(path):
    import polars as pl

    return pl.read_csv(path, try_parse_dates=True, infer_schema_length=1000)


def _race_encoding(frame):
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder, RobustScaler, TargetEncoder

    X, y = frame.drop(columns=["y", "when"]), frame["y"].to_numpy()
    numbers = [name for name in X if name[0] in "xn"]
    peer = make_column_transformer(
        (RobustScaler(), numbers),
        (OneHotEncoder(sparse_output=False), ["sex"]),
        (TargetEncoder(), ["city"]),
    )
    ours, theirs = TableEncoder().fit_transform(X, y), peer.fit_transform(X, y)
    assert ours.shape[1] == theirs.shape[1] + 1  # the frequency of the city
    z = theirs[:, : len(numbers)]  # from exact quartiles, ours from those of a sample
    np.testing.assert_allclose(ours[:, : len(numbers)], z / np.sqrt(1 + (z / 3) ** 2), atol=0.1)
    return measure(
        {
            "scikit-learn ColumnTransformer (given roles)": lambda: peer.fit_transform(X, y),
            "mercer TableEncoder (roles guessed)": lambda: TableEncoder().fit_transform(X, y),
        },
        "scikit-learn ColumnTransformer (given roles)",
    )
