"""CoNLL-2000: chunks of newspaper sentences, with the usual window of words and tags.

Features of a token: words and part-of-speech tags of the tokens up to two places away, pairs of
neighbouring words, pairs and triples of neighbouring tags. Chunks are counted as `conlleval` does.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from bench.harness.files import open_data

Sentence = list[tuple[str, str, str]]  # word, tag, label


def read(part: str) -> list[Sentence]:
    """Return the sentences of "train" or "test"."""
    found: list[Sentence] = [[]]
    for line in io.TextIOWrapper(open_data("conll2000", f"{part}.txt.xz"), encoding="latin-1"):
        fields = line.split()
        if fields:
            found[-1].append((fields[0], fields[1], fields[2]))
        elif found[-1]:
            found.append([])
    return [sentence for sentence in found if sentence]


def features(sentence: Sentence) -> list[dict[str, Any]]:
    """Return one dict of features per token."""
    words = ["_", "_", *(word for word, _, _ in sentence), "_", "_"]
    tags = ["_", "_", *(tag for _, tag, _ in sentence), "_", "_"]
    tokens = []
    for t in range(len(sentence)):
        w, p = words[t : t + 5], tags[t : t + 5]
        token: dict[str, Any] = {
            "bias": 1.0,
            "w[-1|0]": "|".join(w[1:3]),
            "w[0|1]": "|".join(w[2:4]),
        }
        for k in range(5):
            token[f"w[{k - 2}]"], token[f"p[{k - 2}]"] = w[k], p[k]
        for k in range(4):
            token[f"p[{k - 2}|{k - 1}]"] = "|".join(p[k : k + 2])
        for k in range(3):
            token[f"p[{k - 2}|{k - 1}|{k}]"] = "|".join(p[k : k + 3])
        tokens.append(token)
    return tokens


def load(part: str) -> tuple[list[Any], list[list[str]]]:
    """Return feature dicts and labels of all sentences."""
    sentences = read(part)
    return [features(s) for s in sentences], [[label for _, _, label in s] for s in sentences]


def chunks(labels: Sequence[str]) -> set[tuple[int, int, str]]:
    """Return the chunks of a sentence: first token, token after the last, kind.

    A chunk ends before a label that is O, begins with B, or is of another kind; an I after any of
    these begins one.
    """
    found, begin, kind = set(), -1, ""
    for t, (before, label) in enumerate(pairwise(["O", *labels, "O"])):
        position, _, its_kind = label.partition("-")
        if begin >= 0 and (position != "I" or its_kind != kind):
            found.add((begin, t, kind))
            begin = -1
        if position == "B" or (position == "I" and (before == "O" or begin < 0)):
            begin, kind = t, its_kind
    return found


def f1(truth: Iterable[Sequence[str]], given: Iterable[Sequence[str]]) -> float:
    """Return 100 times the harmonic mean of precision and recall of chunks."""
    right = known = claimed = 0
    for one, other in zip(truth, given, strict=True):
        mine, theirs = chunks(one), chunks(other)
        right, known, claimed = right + len(mine & theirs), known + len(mine), claimed + len(theirs)
    return 200.0 * right / (known + claimed)
