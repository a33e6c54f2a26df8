"""Text against scikit-learn's vectorizers: speed on about 50 MB of real text, accuracy on the sets of `--data`."""

from __future__ import annotations

import os
import sys
import sysconfig
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.harness import REPEATS, SMOKE, data_file, measure, show, size, table, threads
from mercer.linear import HingeClassifier
from mercer.text import TextFeatures

MEGABYTES = float(os.environ.get("MERCER_TEXT_MB", size("50", "0.02")))
WRITTEN = (".po", ".rst", ".md", ".txt", ".html", ".pod", ".py")
SETS = ("sms_spam", "reuters_r8", "trec_questions", "movie_polarity_mr", "ag_news_17k")


def run() -> None:
    accuracy()
    documents = corpus(int(MEGABYTES * 1e6))
    for name, ours, peer, fraction in comparisons():
        speed(name, ours, peer, documents[: int(len(documents) * fraction)])


def comparisons():
    """(name, Mercer's, scikit-learn's, fraction of the corpus): n-grams of characters take scikit-learn minutes."""
    plain = {"weighting": "count"}
    hashed = {"n_buckets": 2**20, "hash": "murmur3", **plain}
    peer = {"n_features": 2**20, "norm": None}
    words, letters = (1, 2), (3, 5)
    yield "words 1-2, hashed", TextFeatures(words, **hashed), HashingVectorizer(ngram_range=words, **peer), 1.0
    yield "words 1-2, vocabulary", TextFeatures(words, **plain), CountVectorizer(ngram_range=words), 1.0
    of_letters = {"analyzer": "char", "ngram_range": letters}
    yield "letters 3-5, hashed", TextFeatures(letters, "char", **hashed), HashingVectorizer(**of_letters, **peer), 0.1
    yield "letters 3-5, vocabulary", TextFeatures(letters, "char", **plain), CountVectorizer(**of_letters), 0.1


def speed(name, ours, peer, documents):
    """fit_transform of both, which must agree in every entry."""
    megabytes = sum(len(document.encode()) for document in documents) / 1e6
    some = documents[:: size(50, 2)]
    assert abs(ours.fit_transform(some) - peer.fit_transform(some)).sum() == 0

    def on(n):
        with threads(n):
            ours.fit_transform(documents)

    methods = {f"scikit-learn {type(peer).__name__}": lambda: peer.fit_transform(documents)}
    methods |= {f"TextFeatures, {n} thread(s)": lambda n=n: on(n) for n in (1, 2)}
    rows = measure(methods, "TextFeatures, 2 thread(s)", repeats=min(REPEATS, 2))
    same = f"the same entries of {len(some):,} documents"
    show(f"{name}, {len(documents):,} documents, {megabytes:.1f} MB", rows, same)
    for row in rows:
        print(
            f"    {row.name:<44} {megabytes / row.wall:8.1f} MB/s wall {megabytes / max(row.user, 1e-9):8.1f} MB/s user"
        )


def accuracy() -> None:
    """Test accuracy against TfidfVectorizer and two linear models of scikit-learn with default settings.

    Ours has the same settings on all sets: those with the best mean accuracy on three folds of the training rows of a
    split, over the first four sets, among words 1-2 and 1-3, letters 2-5 and a few penalties.
    """
    rows = []
    for path in sets():
        scores = [[model.fit(*train).score(*test) for model in models(seed)] for train, test, seed in splits(path)]
        rows.append([path.stem, *map(float, np.mean(scores, axis=0)), len(scores)])
    if rows:
        table("test accuracy", ["set", "LinearSVC", "LogisticRegression", "Mercer", "splits"], rows)


def models(seed):
    text = TextFeatures((1, 2), weighting="log-tfidf", token_pattern=r"\w+")
    yield make_pipeline(TfidfVectorizer(), LinearSVC(random_state=seed))
    yield make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
    yield make_pipeline(text, HingeClassifier(alpha=0.25))


def splits(path):
    """(training documents and labels, test documents and labels, seed): the official split, or three of 70/30."""
    import pyarrow.parquet as pq

    table = pq.read_table(path).to_pydict()
    X, y = np.array(table["text"], dtype=object), np.array(table["target"])
    if "split" in table:
        train = np.array(table["split"]) == "train"
        yield (X[train], y[train]), (X[~train], y[~train]), 0
        return
    for seed in range(3):
        a, b, ya, yb = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        yield (a, ya), (b, yb), seed


def corpus(length: int) -> list[str]:
    """Real text of many languages: the sets of `--data`, then text files of this machine, in documents of 1 KB.

    Text that runs out is repeated in another order.
    """
    documents: list[str] = []
    found = 0
    for path in chain(sets(), written()):
        some = texts(path)
        documents += some
        found += sum(map(len, some))
        if found > length:
            break
    rng = np.random.default_rng(0)
    documents = [documents[i] for i in rng.permutation(len(documents))]
    ends = np.cumsum([len(document.encode()) for document in documents])
    print(f"{len(documents):,} documents of real text, {ends[-1] / 1e6:.1f} MB")
    documents = documents[: int(np.searchsorted(ends, length))]
    missing = length - min(ends[-1], length)
    if missing > 0:
        again = [documents[i] for i in rng.permutation(len(documents))]
        ends = np.cumsum([len(document.encode()) for document in again])
        print(f"repeated in another order: {missing / 1e6:.1f} MB")
        documents += again[: int(np.searchsorted(ends, missing))]
    return documents


def sets() -> list[Path]:
    return [path for name in SETS if (path := data_file(name))]


def written():
    """Files of prose, then of code, under the libraries of Python and /usr/share."""
    if SMOKE:
        return [Path(__file__)]
    roots = [*{sysconfig.get_paths()[name] for name in ("stdlib", "purelib")}, "/usr/share", *sys.path]
    found = {path for root in roots if root and Path(root).is_dir() for path in Path(root).rglob("*") if path.is_file()}
    files = sorted(path for path in found if path.suffix in WRITTEN)
    return sorted(files, key=lambda path: WRITTEN.index(path.suffix))


def texts(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path, columns=["text"])["text"].to_pylist()
    pieces, text = [], ""
    for paragraph in path.read_text(encoding="utf-8", errors="replace").split("\n\n"):
        text += paragraph + "\n\n"
        if len(text) > 1000:
            pieces.append(text)
            text = ""
    return [*pieces, text]
