"""The benchmark of sequences: how chunks are counted, and what its page shows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from bench import sequences
from bench.datasets import conll2000
from bench.harness import files
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


def test_the_readme_shows_seconds_and_what_a_model_is_worth():
    row = {
        "solver": "pegasos hinge", "options": "C=1", "rounds": 9, "seconds": 12.0, "cpu": 11.0,
        "score": "error 12 %",
    }  # fmt: skip
    parts = {name: {"shape": "2 x 3", "rows": [row]} for name in ("million", "ocr")}
    text = sequences.summary(Results("sequences", {}, parts))
    assert "| handwritten words, fold 0 | pegasos hinge, C=1 | 12 | - | error 12 % |" in text
    assert text.count("pegasos hinge") == 1


def test_c_is_chosen_without_a_look_at_the_test_fold(monkeypatch):
    rng = np.random.default_rng(0)
    letters = [rng.integers(0, 2, 3) for _ in range(60)]
    words = [csr_array(np.column_stack([2.0 * y - 1.0, np.ones(3)])) for y in letters]
    y, folds = [one.tolist() for one in letters], np.arange(60) % 10
    seen = []

    class Noted(sequences.PegasosSequenceLabeler):
        def fit(self, X, y, sample_weight=None):
            seen.append((self.C, len(X), X[0].shape[1]))
            return super().fit(X, y, sample_weight)

        def score(self, X, y):
            seen.append(len(X))
            return float(self.C == 1.0)

    monkeypatch.setattr(sequences, "PegasosSequenceLabeler", Noted)
    assert sequences.chosen((words, y, folds), 9, "logistic") == (1.0, False)
    fits = [one for one in seen if isinstance(one, tuple)]
    assert fits == [(C, 48, width) for width in (2, 1) for C in (0.3, 1.0, 3.0)]
    assert [one for one in seen if one not in fits] == [6] * 6
    held = sequences.parted((words, y, folds), lambda one: one == 0, lambda one: one in (9, 0))
    assert len(held[0]) == 48
    C, error = sequences.on_fold((words, y, folds), 9, "logistic", True)
    assert (C, error) == (1.0, 0.0)


def test_the_command_measures_a_part_and_writes_the_page(monkeypatch, tmp_path):
    row = {"solver": "ours", "options": "C=1", "rounds": 9, "seconds": 1.0, "cpu": 1.0, "score": ""}
    monkeypatch.setattr(files, "CACHE", tmp_path)
    monkeypatch.setattr(files, "PAGES", tmp_path)
    monkeypatch.setitem(sequences.PARTS, "ocr", lambda: {"shape": "2 x 3", "rows": [row]})
    sequences.main(["--only", "ocr", "--anew"])
    assert "## ocr: 2 x 3" in (tmp_path / "sequences.md").read_text()
