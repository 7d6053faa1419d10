"""Plain data: what is saved comes back as it was, and what is no data is refused."""

import io
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from pegasos.data.rows import ORIGIN, Centre
from pegasos.errors import NotSaved
from pegasos.solvers.primal.bias import Search
from pegasos.solvers.primal.tail_average import Sums, Tail
from pegasos.state import from_data, to_data

pytestmark = pytest.mark.fast


def through_a_file(thing, given=None, again=None):
    file = io.BytesIO()
    np.savez(file, **to_data(thing, given or {}))
    file.seek(0)
    return from_data(np.load(file, allow_pickle=False), again or given or {})


def test_numbers_words_and_containers_come_back_as_they_were():
    thing = {
        "none": None, "yes": True, "whole": 2**80, "number": 0.1 + 0.2, "tiny": 5e-324,
        "infinite": [np.inf, -np.inf], "words": "\"'\n\u00e9", "tuple": (1, (2, [3.0])), 7: {},
        "slice": slice(1, None), "scalar": np.float32(0.1), "bit": np.bool_(True),
    }  # fmt: skip
    found = through_a_file(thing)
    assert found == thing
    assert {key: type(value) for key, value in found.items()} == {
        key: type(value) for key, value in thing.items()
    }
    assert np.isnan(through_a_file(float("nan")))


def test_arrays_keep_type_order_and_whether_they_may_be_changed():
    arrays = [
        np.arange(6, dtype=np.uint32).reshape(2, 3), np.ones((3, 2), order="F"), np.zeros((0, 4)),
        np.array([np.nan, -0.0]), np.array([True, False]), np.array(3.5), ORIGIN.m,
    ]  # fmt: skip
    found = through_a_file(arrays)
    for old, new in zip(arrays, found, strict=True):
        assert old.tobytes("A") == new.tobytes("A")
        assert (old.dtype, old.shape) == (new.dtype, new.shape)
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE"):
            assert old.flags[flag] == new.flags[flag]
    strided = np.arange(12.0).reshape(3, 4)[:, ::2]
    np.testing.assert_array_equal(through_a_file(strided), strided)


def test_what_is_saved_does_not_change_with_the_run():
    w = np.zeros(3)
    data = to_data(w, {})
    w += 1.0
    assert from_data(data, {}).tolist() == [0.0, 0.0, 0.0]
    loaded = from_data(data, {})
    loaded += 2.0
    assert from_data(data, {}).tolist() == [0.0, 0.0, 0.0]


def test_objects_of_the_library_are_taken_apart():
    tail = Tail(Sums(np.ones((2, 1)), np.zeros((2, 1)), np.zeros((0, 2))), epochs=4, first=1)
    found = through_a_file({"tail": tail, "centre": Centre(np.ones(2), np.zeros(0), 2.0)})
    assert type(found["tail"]) is Tail
    assert type(found["tail"].sums) is Sums
    assert (found["tail"].epochs, found["tail"].first, found["tail"].length()) == (4, 1, 3)
    np.testing.assert_array_equal(found["tail"].sums.older, np.ones((2, 1)))
    assert found["centre"].square == 2.0


def test_one_array_in_two_places_is_one_array_again():
    shared = np.zeros(4)
    first, second = through_a_file([shared, shared])
    first[0] = 1.0
    assert second[0] == 1.0
    apart = np.zeros((2, 4))  # views that do not overlap are arrays of their own
    through_a_file([apart[0], apart[1]])


def test_what_is_given_is_not_saved():
    rows, others = np.zeros(1000), np.ones(1000)
    data = to_data([rows, 1.5], {"rows": rows})
    assert list(data) == ["json"]
    loaded = from_data(data, {"rows": others})
    assert loaded[0] is others


@dataclass
class Foreign:
    x: int = 1


class Pair(NamedTuple):
    x: int


@pytest.mark.parametrize(
    ("thing", "match"),
    [
        ({"rounds": iter([])}, r"it\.rounds is no data, but <list_iterator"),
        ([0, lambda: 0], r"it\[1\] is no data, but <function"),
        ((np.random.default_rng(0),), r"it\[0\] is no data, but Generator"),
        (Search(np.zeros(1), np.array([None])), r"it\.sign is an array of Python objects"),
        (Foreign(), "it is no data, but Foreign"),
        (Pair(1), "it is no data, but Pair"),
        ([[shared := [1.0], shared]], r"it\[0\]\[1\] and it\[0\]\[0\] are one object"),
        ([(A := np.zeros(9))[:5], A[4:]], r"it\[1\] and it\[0\] share memory"),
        ([(B := np.zeros((3, 3))), B.T], r"it\[1\] and it\[0\] share memory"),
    ],
)
def test_what_is_no_data_is_refused_with_its_place(thing, match):
    with pytest.raises(NotSaved, match=match):
        to_data(thing, {})


@pytest.mark.parametrize("name", ["os:system", "pegasos.state:to_data", "pegasos.no:Class"])
def test_only_classes_of_the_library_are_loaded(name):
    data = {"json": f'{{"object": "{name}", "fields": {{}}}}'}
    with pytest.raises(NotSaved, match="is no class that this version of pegasos saves"):
        from_data(data, {})
