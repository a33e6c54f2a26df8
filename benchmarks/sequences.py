"""Kernels on sequences against CountVectorizer and strkernel; feature hashing of rows; accuracy on real sequences."""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.harness import data_file, difference, measure, show, size, table, threads
from mercer.expand import lift
from mercer.kernels import Mismatch, Spectrum, Subsequence, WeightedDegree
from mercer.linear import LogisticClassifier
from mercer.machines import KernelHinge
from mercer.project import FeatureHashing

LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}


def run() -> None:
    with threads(1):
        spectra()
        mismatches()
        subsequences()
        hashing()
    accuracy()


def drawn(n, kind="dna", low=100, high=200, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(LETTERS[kind]), rng.integers(low, high + 1))) for _ in range(n)]


def counted(X, k):
    """The spectrum kernel by scikit-learn: counts of words, and the sparse product of the counts."""
    counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False).fit_transform(X)
    return (counts @ counts.T).toarray()


def gapped(X, k):
    """The kernel without an alphabet and with one mismatch: counts of words with one letter removed."""

    def words(row):
        windows = [row[i : i + k] for i in range(len(row) - k + 1)]
        return [f"{j}:{word[:j]}{word[j + 1 :]}" for word in windows for j in range(k)]

    counts = CountVectorizer(analyzer=words).fit_transform(X)
    return (counts @ counts.T).toarray()


def spectra(n=size(2000, 20)):
    """Gram matrices of 2,000 sequences of 100 to 200 letters."""
    for kind, k in (("dna", 3), ("dna", 5), ("dna", 8), ("protein", 3), ("protein", 5)):
        X = drawn(n, kind)
        np.testing.assert_array_equal(Spectrum(k)(X), counted(X, k))
        methods = {
            "scikit-learn CountVectorizer, A @ A.T": lambda X=X, k=k: counted(X, k),
            f"Spectrum({k})": lambda X=X, k=k: Spectrum(k)(X),
        }
        rows = measure(methods, f"Spectrum({k})", 3)
        show(f"spectrum, {kind}, k = {k}, {n:,} rows, one thread", rows, "the same counts")


def mismatches(n=size(2000, 12), few=size(30, 6)):
    """The same with mismatches; strkernel, in Python, on fewer rows of equal length."""
    for kind, k, m in (("dna", 5, 1), ("dna", 8, 1), ("protein", 5, 1)):
        X = drawn(n, kind)
        methods = {
            f"Mismatch({k}, {m}, {kind!r})": lambda X=X, k=k, m=m, kind=kind: Mismatch(k, m, kind)(X),
            f"Mismatch({k}, {m})": lambda X=X, k=k, m=m: Mismatch(k, m)(X),
            f"scikit-learn, no mismatch, k = {k}": lambda X=X, k=k: counted(X, k),
        }
        np.testing.assert_array_equal(Mismatch(k, 0, kind)(X[:200]), counted(X[:200], k))
        np.testing.assert_allclose(Mismatch(k, m)(X[:20]), gapped(X[:20], k), rtol=1e-12)
        rows = measure(methods, f"Mismatch({k}, {m}, {kind!r})", 3)
        same = "without mismatches, and without an alphabet (words with a letter removed), those of CountVectorizer"
        show(f"mismatch, {kind}, {n:,} rows, one thread", rows, same)
    try:
        from strkernel.mismatch_kernel import MismatchKernel, preprocess
    except ImportError:
        print("\nstrkernel is not installed: its comparison is left out (pip install strkernel)")
        return
    X = drawn(few, low=100, high=100)
    kernel = Mismatch(4, 1, "dna").normalized()

    def peer():
        machine = MismatchKernel(l=4, k=4, m=1)  # good for one matrix only
        machine.get_kernel(preprocess(X))
        return machine.kernel

    np.testing.assert_allclose(peer(), kernel(X), atol=1e-9)
    methods = {"strkernel MismatchKernel": peer, "Mismatch(4, 1, 'dna')": lambda: kernel(X)}
    rows = measure(methods, "Mismatch(4, 1, 'dna')", 3)
    show(f"mismatch, dna, {few} rows of 100, one thread", rows, "equal to 1e-9")


def subsequences(n=size(100, 6), k=4):
    """Pairs per second of the gapped kernel, against its definition on fewer pairs."""
    from mercer._numeric.text import sequences as definition
    from mercer.kernels.discrete.letters import read_letters

    X = drawn(n)
    some = read_letters([(X[:2], "X")], None)
    pair = np.array([0]), np.array([1])
    methods = {
        "one pair by the definition": lambda: definition.subsequence_pairs(
            some.codes, some.starts, *pair, k, 0.5, np.zeros((0, 0))
        ),
        f"{n * (n + 1) // 2:,} pairs": lambda: Subsequence(k)(X),
    }
    error = difference(Subsequence(k, 0.5)(X[:2])[0, 1], methods["one pair by the definition"]())
    assert error < 1e-12, error
    rows = measure(methods, "one pair by the definition", 3)
    same = f"one pair by the definition differs by {error:.0e}"
    show(f"Subsequence({k}), rows of 100 to 200 letters", rows, same)


def hashing(n=size(5000, 30), tokens=100):
    """Token lists, pairs, dicts and tables against scikit-learn's FeatureHasher."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(50_000)])
    frequent = [words[np.minimum(rng.zipf(1.3, tokens), len(words)) - 1].tolist() for _ in range(n)]
    uniform = [words[rng.integers(0, len(words), tokens)].tolist() for _ in range(n)]
    records = [{f"c{j}": word for j, word in enumerate(row[:20])} for row in frequent]
    table = np.array([row[:20] for row in frequent], dtype=object)
    cases = {
        "tokens, Zipf": ("string", frequent, frequent),
        "tokens, uniform": ("string", uniform, uniform),
        "pairs": ("pair", *[[[(word, 1.5) for word in row] for row in frequent]] * 2),
        "dicts of numbers": ("dict", *[[dict.fromkeys(row, 1.5) for row in uniform]] * 2),
        "dicts of strings": ("dict", records, records),
        "table of strings (scikit-learn: as dicts)": ("dict", records, table),
    }
    ours = FeatureHashing()
    for name, (kind, theirs, rows) in cases.items():
        peer = FeatureHasher(2**18, input_type=kind)
        methods = {
            "scikit-learn FeatureHasher": lambda peer=peer, theirs=theirs: peer.transform(theirs),
            "FeatureHashing": lambda rows=rows: ours.transform(rows),
        }
        same = same_table(ours.transform(rows), peer.transform(theirs))
        show(f"{name}, {n:,} rows, one thread", measure(methods, "FeatureHashing"), same)


def same_table(ours, theirs):
    """Check that two hashed tables agree up to the hash function.

    Entries of a row are those of its names up to sign and collisions. So rows have the same sums of squares, but for
    the pairs of names that collide: at most one row in ten, by less than 1 % of the total.
    """
    squares = [np.asarray(each.multiply(each).sum(axis=1)).ravel() for each in (ours, theirs)]
    equal = np.isclose(*squares, rtol=1e-5).mean()
    total = abs(squares[0].sum() / squares[1].sum() - 1)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    assert equal > 0.9, equal
    assert total < 0.01, total
    return f"{equal:.1%} of the rows have equal sums of squares (the others: collisions), in total within {total:.1e}"


# --- accuracy


def accuracy() -> None:
    rows = []
    for name, models in MODELS.items():
        path = data_file(name)
        if path is None:
            continue
        X, X_test, y, y_test = sequences_in(path)
        print(f"\n{name}: test accuracy, {len(X):,} rows to learn from, {len(X_test):,} to test")
        scores = {label: float(model.fit(X, y).score(X_test, y_test)) for label, model in (BASELINES | models).items()}
        for label, score in scores.items():
            print(f"  {label:<44} {score:.4f}", flush=True)
        best = max(models, key=scores.__getitem__)
        rows.append([name, *(scores[label] for label in BASELINES), scores[best], best])
    if rows:
        table("test accuracy", ["set", "bag of letters", "1-3-grams", "1-5-grams", "Mercer", "kernel"], rows)


def sequences_in(path):
    """Training and test rows, by the official split or at random."""
    import pandas as pd

    frame = pd.read_parquet(path)
    X, y = frame["seq"].to_numpy(object), frame["target"].to_numpy()
    if "split" not in frame:
        return train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    first = (frame["split"] == "train").to_numpy()
    return X[first], X[~first], y[first], y[~first]


def lifted(kernel, alpha=0.05):
    return make_pipeline(lift(kernel.normalized()), LogisticClassifier(alpha=alpha, tol=1e-4))


def tfidf(low, high):
    return make_pipeline(TfidfVectorizer(analyzer="char", ngram_range=(low, high)), LinearSVC())


BASELINES = {
    "bag of letters, logistic": make_pipeline(CountVectorizer(analyzer="char"), LogisticRegression(max_iter=2000)),
    "scikit-learn tf-idf of 1-3-grams, LinearSVC": tfidf(1, 3),
    "scikit-learn tf-idf of 1-5-grams, LinearSVC": tfidf(1, 5),
}
MODELS = {
    "splice_junction": {
        "lift(Spectrum(6)), logistic": lifted(Spectrum(6, "dna")),
        "lift(WeightedDegree(5)), logistic": lifted(WeightedDegree(5, "dna")),
        "WeightedDegree(5), KernelHinge": KernelHinge(WeightedDegree(5, "dna").normalized(), alpha=0.1),
    },
    "fastsk_ctcf": {
        "lift(Spectrum(6, reverse_complement)), logistic": lifted(Spectrum(6, "dna", True)),
        "Mismatch(8, 2), KernelHinge": KernelHinge(Mismatch(8, 2).normalized(), alpha=0.1),
    },
    "promoters": {
        "lift(Mismatch(6, 1)), logistic": lifted(Mismatch(6, 1)),
        "WeightedDegree(5), KernelHinge": KernelHinge(WeightedDegree(5, "dna").normalized(), alpha=0.1),
    },
    "names_nationality": {
        "lift(Spectrum(1) + ... + Spectrum(4)), logistic": lifted(sum(Spectrum(k) for k in range(1, 5))),
    },
}
