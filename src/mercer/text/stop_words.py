"""Lists of stop words: articles, pronouns, prepositions, auxiliaries and other frequent, uninformative words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files


@cache
def stop_languages() -> tuple[str, ...]:
    """Return the languages with a built-in list of stop words.

    Use it to see which languages `TextFeatures(stop_words=...)` takes by name.

    >>> stop_languages()[:4]
    ('czech', 'danish', 'dutch', 'english')
    """
    names = (entry.name for entry in files("mercer.text").joinpath("stopwords").iterdir())
    return tuple(sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt")))


@cache
def stop_list(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case.

    Use it to look at a list, or to extend it: `TextFeatures(stop_words=[*stop_list("english"), "via"])`. A name of the
    language is enough for the list as it is. Leave stop words in where they carry meaning, as "not" does for sentiment.

    >>> sorted(stop_list("german"))[:4]
    ['aber', 'alle', 'allem', 'allen']
    """
    if language not in stop_languages():
        raise ValueError(
            f"There is no list of stop words called {language!r}. Choose one of {', '.join(stop_languages())}, "
            "or give a list of words."
        )
    text = files("mercer.text").joinpath("stopwords", f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def stop_set(stop_words: str | Iterable[str] | None, lowercase: bool) -> frozenset[str]:
    """The stop words given as a language, as a list or as None."""
    if stop_words is None:
        return frozenset()
    words = stop_list(stop_words) if isinstance(stop_words, str) else list(stop_words)
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise ValueError(f"stop_words must be a language or a list of strings; {wrong[0]!r} is not a string.")
    return frozenset(word.lower() for word in words) if lowercase else frozenset(words)
