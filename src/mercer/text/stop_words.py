"""Lists of stop words: articles, pronouns, prepositions, auxiliaries, frequent everywhere and telling little."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def stop_languages() -> tuple[str, ...]:
    """The languages that Mercer has a list of stop words for.

    >>> len(stop_languages()) >= 12
    True
    """
    names = (entry.name for entry in files("mercer.text").joinpath("stopwords").iterdir())
    return tuple(sorted(name.removesuffix(".txt") for name in names if name.endswith(".txt")))


@cache
def stop_list(language: str) -> frozenset[str]:
    """The stop words of a language, in lower case.

    >>> "the" in stop_list("english"), "der" in stop_list("german")
    (True, True)
    """
    if language not in stop_languages():
        raise ValueError(
            f"There is no list of stop words called {language!r}: there are {', '.join(stop_languages())}. "
            "Give a list of words of your own."
        )
    text = files("mercer.text").joinpath("stopwords", f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def stop_set(stop_words, lowercase: bool) -> frozenset[str]:
    """The words to leave out: of a language, of a list, or none."""
    if stop_words is None:
        return frozenset()
    words = stop_list(stop_words) if isinstance(stop_words, str) else list(stop_words)
    wrong = [word for word in words if not isinstance(word, str)]
    if wrong:
        raise ValueError(f"stop_words must be a language or a list of strings; {wrong[0]!r} is not a string.")
    return frozenset(word.lower() for word in words) if lowercase else frozenset(words)
