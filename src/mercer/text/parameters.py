"""Validation of the parameters of `TextFeatures`."""

from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any

from mercer._runtime.checks import check_whole
from mercer.text.stemming import stems

_CHOICES = {
    "analyzer": ("word", "char", "char_wb"),
    "weighting": ("tfidf", "log-tfidf", "count", "binary", "log"),
    "norm": ("auto", "l2", "l1", None),
    "hash": ("keyed", "murmur3"),
    "missing": ("empty", "error"),
}


def check_parameters(text: Any) -> None:
    """Raise a ValueError for the first invalid parameter."""
    for name, choices in _CHOICES.items():
        if getattr(text, name) not in choices:
            allowed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {allowed}, not {getattr(text, name)!r}.")
    _check_ngram_range(text.ngram_range)
    _check_words(text)
    for name in ("min_df", "max_df"):
        _check_frequency(name, getattr(text, name))
    if text.max_features is not None:
        check_whole("max_features", text.max_features)
    if text.n_buckets is not None:
        _check_buckets(text)


def _check_ngram_range(given: Any) -> None:
    pair = isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(n, Integral) for n in given)
    if not pair or not 1 <= given[0] <= given[1]:
        raise ValueError(f"ngram_range must be a pair (min_n, max_n) with 1 <= min_n <= max_n, not {given!r}.")


def _check_words(text: Any) -> None:
    if text.analyzer != "word":
        for name in ("stem", "stop_words", "token_pattern"):
            if getattr(text, name) is not None:
                raise ValueError(f"{name} needs analyzer='word', not {text.analyzer!r}.")
    if text.stem is not None:
        stems(text.stem)
    if text.token_pattern is not None and re.compile(text.token_pattern).groups > 1:
        raise ValueError("token_pattern may have at most one group, which is the token. Use (?:...) for others.")


def _check_frequency(name: str, value: Any) -> None:
    fraction = isinstance(value, Real) and not isinstance(value, Integral) and 0.0 <= float(value) <= 1.0
    number = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    if not (fraction or number):
        raise ValueError(
            f"{name} must be a whole number of documents of at least 1, or a fraction from 0.0 to 1.0, not {value!r}."
        )


def _check_buckets(text: Any) -> None:
    check_whole("n_buckets", text.n_buckets)
    check_whole("nonzeros", text.nonzeros)
    if text.n_buckets >= 2**31:
        raise ValueError(f"n_buckets must be below 2**31, not {text.n_buckets}.")
    if text.n_buckets % text.nonzeros:
        raise ValueError(f"n_buckets={text.n_buckets} must be a multiple of nonzeros={text.nonzeros}.")
    if text.hash == "murmur3" and text.nonzeros > 1:
        raise ValueError("hash='murmur3' gives each term one bucket: use nonzeros=1 or hash='keyed'.")
    for name, default in (("min_df", 1), ("max_df", 1.0), ("max_features", None)):
        if getattr(text, name) != default:
            raise ValueError(f"{name} needs a vocabulary: it has no effect with n_buckets.")
