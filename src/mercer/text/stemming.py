"""Snowball stems by PyStemmer (compiled) or snowballstemmer (pure Python): the same algorithms, the same stems."""

from __future__ import annotations

import threading
from functools import cache

_MOST_KNOWN = 1 << 22


class Stems:
    """The stems of words of one language; a word seen before is not stemmed again.

    >>> Stems("english").of(["running", "runs", "ran"])
    ['run', 'run', 'ran']
    """

    def __init__(self, language: str):
        self.language = language
        self._stem_all = _stemmer(language)
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    def of(self, words: list[str]) -> list[str]:
        """The stem of each word."""
        with self._lock:  # stemmers keep the word they work on
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            new = [word for word in words if word not in self._known]
            self._known.update(zip(new, self._stem_all(new), strict=True))
            return [self._known[word] for word in words]


@cache
def stems(language: str) -> Stems:
    """The stems of a language, shared by all that ask for them."""
    return Stems(language)


def _stemmer(language: str):
    try:
        import Stemmer as library

        languages, make = library.algorithms(), library.Stemmer
    except ImportError:
        try:
            import snowballstemmer as library
        except ImportError as error:
            raise ImportError(
                f"stem={language!r} needs a library of Snowball stems. Install PyStemmer (pip install 'mercer[text]') "
                "or snowballstemmer, or use stem=None."
            ) from error
        languages, make = library.algorithms(), library.stemmer
    if language not in languages:
        raise ValueError(f"stem must be None or one of {', '.join(sorted(languages))}, not {language!r}.")
    return make(language).stemWords
