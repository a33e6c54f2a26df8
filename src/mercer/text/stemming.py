"""Snowball stemming by PyStemmer (compiled) or snowballstemmer (pure Python), which give the same stems."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

#: Words whose stems are cached.
_MAX_CACHED = 1 << 22


class Stems:
    """Stemmer of one language with a cache of the words seen.

    >>> Stems("english").of(["running", "runs", "ran"])
    ['run', 'run', 'ran']
    """

    def __init__(self, language: str):
        self.language = language
        self._stem_all = _stemmer(language)
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()

    def of(self, words: list[str]) -> list[str]:
        """Return the stem of each word."""
        with self._lock:  # stemmers have state
            if len(self._known) > _MAX_CACHED:
                self._known.clear()
            new = [word for word in words if word not in self._known]
            self._known.update(zip(new, self._stem_all(new), strict=True))
            return [self._known[word] for word in words]


@cache
def stems(language: str) -> Stems:
    """The shared stemmer of a language."""
    return Stems(language)


def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    try:
        import Stemmer

        languages, make = Stemmer.algorithms(), Stemmer.Stemmer
    except ImportError:
        try:
            import snowballstemmer
        except ImportError as error:
            raise ImportError(
                f"stem={language!r} needs a Snowball stemmer. Install PyStemmer (pip install 'mercer[text]') "
                "or snowballstemmer, or use stem=None."
            ) from error
        languages, make = snowballstemmer.algorithms(), snowballstemmer.stemmer
    if language not in languages:
        raise ValueError(f"stem must be None or one of {', '.join(sorted(languages))}, not {language!r}.")
    return make(language).stemWords
