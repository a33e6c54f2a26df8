"""How much of a report is shown, so that a page never exceeds 1 MB."""

from __future__ import annotations

from dataclasses import dataclass, replace

MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Limits:
    """The largest numbers of entries, and the longest names, sentences and listings in characters."""

    name: int = 80
    sentence: int = 600
    listing: int = 6000
    checks: int = 60
    where: int = 20
    notes: int = 40
    blocks: int = 30
    candidates: int = 80
    importances: int = 25
    effects: int = 12
    interactions: int = 4
    curves: int = 12
    pairs: int = 10
    term_lists: int = 12
    terms: int = 12
    examples: int = 5
    contributions: int = 12
    slices: int = 20
    points: int = 40
    classes: int = 16
    certificates: int = 20
    profiles: int = 200
    versions: int = 30
    files: int = 20
    stages: int = 30


#: Tried in this order until the page is small enough. Even if each character of each text takes 5 bytes, the last is.
TIERS = (
    Limits(),
    replace(Limits(), name=60, sentence=300, listing=3000, profiles=100, candidates=40, checks=30, effects=8, curves=8,
        pairs=6),
    Limits(
        name=40, sentence=160, listing=1000, checks=15, where=5, notes=10, blocks=10, candidates=15, importances=15,
        effects=6, interactions=2, curves=4, pairs=2, term_lists=4, terms=8, examples=2, contributions=6,
        slices=5, points=15, classes=12, certificates=5, profiles=40, versions=10, files=5, stages=12,
    ),
)  # fmt: skip
