"""The subset-tree kernel beside counted fragments."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Spectrum, SubsetTree, check_mercer

leaves = st.sampled_from("ab")
trees = st.recursive(
    st.tuples(st.sampled_from("XY"), leaves),
    lambda child: st.tuples(st.sampled_from("ST"), child) | st.tuples(st.sampled_from("ST"), child | leaves, child),
    max_leaves=5,
)


def rooted(tree):
    """All fragments whose top is the top of the tree: a nested tuple in which a cut node is its label in a list."""
    options = [
        [("leaf", child)] if isinstance(child, str) else [("cut", child[0]), *rooted(child)] for child in tree[1:]
    ]
    return [(tree[0], *choice) for choice in itertools.product(*options)]


def nodes(tree):
    return [] if isinstance(tree, str) else [tree, *(n for child in tree[1:] for n in nodes(child))]


def size(fragment):
    return 1 + sum(size(part) for part in fragment[1:] if part[0] not in ("leaf", "cut"))


def fragments(tree):
    return Counter(fragment for node in nodes(tree) for fragment in rooted(node))


def by_hand(x, z, decay):
    theirs = fragments(z)
    return sum(count * theirs[f] * decay ** size(f) for f, count in fragments(x).items())


def bracketed(tree):
    return tree if isinstance(tree, str) else f"({tree[0]} {' '.join(map(bracketed, tree[1:]))})"


@settings(max_examples=60)
@given(st.lists(trees, min_size=1, max_size=4), st.sampled_from([1.0, 0.5, 0.3]))
def test_it_counts_common_fragments(X, decay):
    kernel = SubsetTree(decay)
    expected = np.array([[by_hand(x, z, decay) for z in X] for x in X])
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel([bracketed(x) for x in X], X), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(expected), rtol=1e-12)
    assert check_mercer(kernel, X).valid


def test_a_sentence():
    tree = "(S (NP (D the) (N dog)) (VP (V chased) (NP (D a) (N cat))))"
    other = "(S (NP (D the) (N cat)) (VP (V chased) (NP (D a) (N dog))))"
    K = SubsetTree(1.0)([tree, other])
    assert K[0, 0] == by_hand(parsed(tree), parsed(tree), 1.0)
    assert K[0, 1] == by_hand(parsed(tree), parsed(other), 1.0)
    assert SubsetTree(0.5).normalized()([tree, other])[0, 0] == 1.0
    assert (SubsetTree() + Spectrum(2))([tree], [other])[0, 0] > SubsetTree()([tree], [other])[0, 0]


def parsed(text):
    """Nested tuples of a text in brackets, by a tiny recursive reader."""
    pieces = text.replace("(", " ( ").replace(")", " ) ").split()

    def read():
        piece = pieces.pop(0)
        if piece != "(":
            return piece
        node = []
        while pieces[0] != ")":
            node.append(read())
        pieces.pop(0)
        return tuple(node)

    return read()


def test_deep_and_degenerate_trees():
    deep: object = "x"
    for _ in range(1000):
        deep = ("S", deep)
    # A chain of n nodes has one fragment of each of its n (n + 1) / 2 stretches; equal ones pair up.
    assert SubsetTree(1e-9)([deep])[0, 0] == pytest.approx(1e-9 * (1 + 999**2), rel=1e-3)
    text = "(S " * 1000 + "x" + ")" * 1000
    assert SubsetTree(1e-9)([text], [deep])[0, 0] == SubsetTree(1e-9)([deep])[0, 0]
    assert SubsetTree()(["word", "(S)", ("S",), ("S", "a")]).tolist() == [[0.0] * 4] * 3 + [[0, 0, 0, 0.5]]
    assert SubsetTree(1.0)(["( (S (NP a)) )"], ["(S (NP a))"])[0, 0] == 3
    assert SubsetTree()(["(S a)"], []).shape == (1, 0)
    assert SubsetTree()([("S", 1, ("NP", 2.5))], [("S", 1, ("NP", 2.5))])[0, 0] > 0
    node, leaf = ("S", ("NP", "a")), ("S", "NP")
    assert SubsetTree()([node], [leaf])[0, 0] == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["(S (NP a)"], "row 0 of X has 1 brackets left open"),
        (["(S a)", "(S a))"], "row 1 of X has a closing bracket too many at position 5"),
        (["(S a) b"], "row 0 of X has 'b' at position 6 after the end of the tree"),
        (["(S a) (S b)"], "row 0 of X has"),
        (["()"], "a bracket without a label before position 1"),
        (["(S ((NP a) b))"], "a bracket without a label"),
        ([""], "row 0 of X has no tree"),
        ([3], r"row 0 of X is 3 \(int\): a tree must be"),
        ([()], r"row 0 of X is \(\)"),
        ([("S", {"a"})], "row 0 of X has a label or leaf that is not hashable"),
    ],
)
def test_what_is_no_tree_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        SubsetTree()(rows)


def test_parameters():
    with pytest.raises(ValueError, match="decay must be"):
        SubsetTree(2.0)(["(S a)"])
