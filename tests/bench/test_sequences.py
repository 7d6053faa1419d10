"""The benchmark of sequences: how chunks are counted, and what its page shows."""

import pytest

from bench import sequences
from bench.datasets import conll2000
from bench.harness.results import Results

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("O O", set()),
        ("B-NP I-NP O", {(0, 2, "NP")}),
        ("B-NP B-NP", {(0, 1, "NP"), (1, 2, "NP")}),
        ("B-NP I-VP", {(0, 1, "NP"), (1, 2, "VP")}),  # another kind begins a chunk
        ("O I-NP I-NP", {(1, 3, "NP")}),  # and so does an I after an O
        ("B-NP O I-NP", {(0, 1, "NP"), (2, 3, "NP")}),
    ],
)
def test_chunks_are_those_of_conlleval(labels, expected):
    assert conll2000.chunks(labels.split()) == expected


def test_f1_counts_chunks_of_all_sentences_together():
    # 3 chunks are right, of 5 claimed and 5 known.
    truth = [["B-NP", "O", "B-NP"], ["B-VP", "I-VP", "B-NP"], ["B-NP"]]
    given = [["B-NP", "O", "B-NP"], ["B-VP", "B-VP", "B-NP"], ["O"]]
    assert conll2000.f1(truth, given) == pytest.approx(200.0 * 3 / (5 + 5))


def test_features_are_those_of_the_window():
    (first, second) = conll2000.features([("He", "PRP", "B-NP"), ("ran", "VBD", "B-VP")])
    assert first["w[0]"] == "He"
    assert first["w[-1]"] == "_"
    assert first["p[0|1]"] == "PRP|VBD"
    assert second["w[-1|0]"] == "He|ran"
    assert second["p[-2|-1|0]"] == "_|PRP|VBD"
    assert len(first) == 20


def test_page_shows_every_part():
    row = {
        "solver": "crfsuite", "options": "defaults", "rounds": 9, "seconds": 12.0, "cpu": 11.0,
        "near": 7.0, "objective": 1234.5, "score": "F1 93.00",
    }  # fmt: skip
    results = Results("sequences", {"date": "today"}, {"conll": {"shape": "2 x 3", "rows": [row]}})
    text = sequences.page(results)
    assert "## conll: 2 x 3" in text
    assert "| crfsuite | defaults | 9 | 12 | 11 | 7 | - | 1234.5 | F1 93.00 |" in text
