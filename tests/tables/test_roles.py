"""Roles: what columns are taken for, why, what gives the target away; and the facts of one pass behind them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._numeric.block import Block
from mercer.io import read_table
from mercer.source import Columns
from mercer.stats import Sample
from mercer.tables import guess_roles, profile
from mercer.tables.profile import TableProfile

N = 400
RNG = np.random.default_rng(0)
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def words(n, per_row):
    vocabulary = ["".join(RNG.choice(LETTERS, 5)) for _ in range(300)]
    return [" ".join(RNG.choice(vocabulary, per_row)) for _ in range(n)]


TABLE = {
    "height": RNG.normal(size=N),
    "children": RNG.integers(0, 6, N),
    "sex": RNG.choice(["f", "m"], N),
    "city": [f"city {i}" for i in RNG.integers(0, 150, N)],
    "review": words(N, 12),
    "surname": ["".join(RNG.choice(LETTERS, 7)) for _ in range(N)],
    "dna": ["".join(RNG.choice(list("ACGT"), 30)) for _ in range(N)],
    "protein": ["".join(RNG.choice(list("ACDEFGHIKLMNPQRSTVWY"), 40)) for _ in range(N)],
    "row": np.arange(N) + 17,
    "customer_id": RNG.choice(10**9, N, replace=False),
    "token": [f"{i:08x}-{i * 7919 % 1000}" for i in RNG.choice(10**9, N, replace=False)],
    "born": np.datetime64("1990-01-01") + RNG.integers(0, 9999, N).astype("m8[D]"),
    "day": [str(np.datetime64("1990-01-01") + int(d)) for d in RNG.integers(0, 9999, N)],
    "paid": RNG.random(N) < 0.5,
    "planet": ["Earth"] * N,
    "gone": [None] * N,
    "sometimes": ["yes" if x else None for x in RNG.random(N) < 0.5],
}
EXPECTED = {
    "height": "number",
    "children": "number",
    "sex": "category",
    "city": "high-cardinality",
    "review": "text",
    "surname": "text",
    "dna": "sequence",
    "protein": "sequence",
    "row": "id",
    "customer_id": "id",
    "token": "id",
    "born": "date",
    "day": "date",
    "paid": "category",
    "planet": "constant",
    "gone": "constant",
    "sometimes": "category",
}


def test_roles_and_reasons():
    roles = guess_roles(read_table(TABLE))
    assert {name: role.role for name, role in roles.items()} == EXPECTED
    assert all(role.why and not role.suspicions for role in roles.values())
    assert str(roles["planet"]) == "constant: every row holds 'Earth'"


def test_roles_survive_a_holdout():
    rows = RNG.random(N) < 0.8
    kept = {name: np.asarray(column, dtype=object)[rows] for name, column in TABLE.items()}
    assert {name: role.role for name, role in guess_roles(read_table(kept)).items()} == EXPECTED


def test_what_is_known_is_not_guessed():
    roles = guess_roles(read_table(TABLE), roles={"children": "category"}, max_onehot=200)
    assert roles["children"].role == "category"
    assert roles["children"].why == "as given"
    assert roles["city"].role == "category"
    for wrong, message in (
        ({"childern": "category"}, "no such column"),
        ({"sex": "gender"}, "must be one of"),
        ({"sex": "number"}, "cannot be taken for a number"),
        ({"height": "date"}, "cannot be taken for a date"),
        ({"height": "text"}, "cannot be taken for a text. Read it as one with types={'height': 'text'}"),
        ({"born": "sequence"}, "holds dates, it cannot be taken for a sequence"),
    ):
        with pytest.raises(ValueError, match=message):
            guess_roles(read_table(TABLE), roles=wrong)

    with pytest.raises(TypeError, match="roles must map names"):
        guess_roles(read_table(TABLE), roles=["category"])


#: How a value of a column of text is written, and what it is for people.
WRITTEN = {
    "${:,}": "numbers",
    "{} %": "numbers",
    "{:,}": "numbers",
    "€ {}": "numbers",
    "{}.25": "numbers",
    "-{},5": "numbers",
    "12/28/{}": "dates",
    "28.12.{} 10:30": "dates",
    "{} kr": None,
    "{:06d}": None,
    "{}": None,
    "1.{}.0": None,
    "{}-07": None,
}


@pytest.mark.parametrize("form", WRITTEN)
def test_numbers_and_dates_written_as_text_are_suspected(form):
    role = guess_roles(read_table({"c": [form.format(1000 + 17 * i) for i in range(60)]}))["c"]
    assert [message.partition(",")[0] for message in role.suspicions] == [f"{WRITTEN[form]} as text"] * bool(
        WRITTEN[form]
    )
    assert role.role != "id" or not WRITTEN[form]


def test_a_day_that_never_changes():
    role = guess_roles(read_table({"d": np.full(5, np.datetime64("2020-03-01")), "x": np.arange(5.0)}))["d"]
    assert str(role) == "constant: every row holds 2020-03-01"


@pytest.mark.parametrize("kind", ["number", "class", "text class"])
def test_columns_that_give_the_target_away_are_suspected(kind):
    n = 3000
    rng = np.random.default_rng(1)
    quantity = rng.normal(size=n)
    y = {"number": quantity, "class": (quantity > 0) * 1, "text class": np.where(quantity > 0, "yes", "no")}[kind]
    leaks = {
        "copy": y,
        "scaled": 3 * quantity + 5,
        "label": np.array([f"level {v}" for v in (y if kind != "number" else np.round(8 * quantity))]),
    }
    honest = {
        "noisy": quantity + rng.normal(size=n),
        "noise": rng.normal(size=n),
        "many": [f"u{i}" for i in rng.integers(0, 2000, n)],
        "sometimes": [None if v < 0.5 else "x" for v in rng.random(n)],
    }
    roles = guess_roles(read_table({**leaks, **honest}, target=np.asarray(y)))
    assert [name for name, role in roles.items() if role.suspicions] == list(leaks)
    assert "equals the target" in roles["copy"].suspicions[0]
    assert "alone it predicts" in roles["scaled"].suspicions[0]


COLUMNS = {
    "x": st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, 2.0])),
    "n": st.one_of(st.none(), st.integers(0, 40)),
    "w": st.one_of(st.none(), st.sampled_from(["a", "b", "ccc", ""])),
    "t": st.booleans(),
}


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=60), cut=st.integers(0, 60))
def test_facts_are_those_of_counting_and_merge(rows, cut):
    import pyarrow as pa

    types = {"x": pa.float64(), "n": pa.int64(), "w": pa.string(), "t": pa.bool_()}
    table = Columns(pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in types}))
    whole = TableProfile(size=8).of(Block(table)).finish()
    parts = TableProfile(size=8).of(Block(table[:cut])).merge(TableProfile(size=8).of(Block(table[cut:]))).finish()
    for name in types:
        ours, merged = whole[name], parts[name]
        present = [row[name] for row in rows if row[name] is not None]
        assert (ours.values, ours.counts.tolist(), ours.distinct) == (
            merged.values,
            merged.counts.tolist(),
            merged.distinct,
        )
        assert ours.missing == merged.missing == len(rows) - len(present)
        assert all(present.count(level) == count for level, count in zip(ours.values, ours.counts, strict=True))
        if ours.exact:
            assert ours.distinct == len(set(present))
        if name != "w" and present:
            assert (merged.low, merged.high) == (min(present), max(present))


def test_many_columns_keep_fewer_values_and_a_smaller_sample(monkeypatch):
    """So many as fit into the totals; numbers of all rows are as they were, and parts merge to the same."""
    rng = np.random.default_rng(0)
    data = {f"x{j}": x for j, x in enumerate(rng.normal(size=(40, 1500)))}
    whole = TableProfile().of(Block(Columns.of(data))).finish()["x7"]
    assert (whole.exact, len(whole.values)) == (True, 1500)
    monkeypatch.setattr(profile, "_MAX_TOTAL", 40 * 600)
    table = Columns.of(data)
    few = TableProfile().of(Block(table)).finish()["x7"]
    parts = TableProfile().of(Block(table[:900])).merge(TableProfile().of(Block(table[900:]))).finish()["x7"]
    assert (few.exact, len(few.values), few.values) == (False, 600, parts.values)
    assert (few.n, few.low, few.high) == (whole.n, whole.low, whole.high)
    assert abs(few.distinct - 1500) < 5 * 1500 / np.sqrt(600)
    every = Sample().of(Block(table))
    some = [Sample(max_entries=40 * 700).of(Block(table[a:b])) for a, b in ((0, 1500), (0, 900), (900, 1500))]
    assert [len(each.keys) for each in some] == [700, 700, 600]
    assert some[0].keys.tolist() == some[1].merge(some[2]).keys.tolist() == every.keys[:700].tolist()
    assert not some[0].finish().complete


def test_the_number_of_many_values_is_estimated():
    """The k-th smallest hash has relative deviation about 1/sqrt(k): 5 of them."""
    levels = np.arange(50_000)
    facts = read_table({"a": levels, "b": levels % 7}).fold(TableProfile(size=1000)).finish()
    assert not facts["a"].exact
    assert abs(facts["a"].distinct / 50_000 - 1) < 5 / np.sqrt(1000)
    assert facts["b"].exact
    assert facts["b"].distinct == 7
