"""What a run consists of as plain data: arrays and JSON, which to load executes nothing.

Dataclasses and NamedTuples of this library are taken apart into their fields; numbers, words, None,
lists, tuples, dicts, slices and arrays are as they are. Anything else, a Python generator, a
function, a NumPy generator, is refused where it is saved, with its place in the message. What an
object's `__getstate__` leaves out is not saved, and is for its `__setstate__` to replace.

Some objects are not saved, but `given` again by whoever loads: the rows, say.

One array in two places is one array again. Of two arrays that overlap otherwise, changes to one
would no longer reach the other: refused.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pegasos.errors import NotSaved

PACKAGE = __name__.partition(".")[0]
TREE = "json"  # the name of the tree among the arrays; their own are "0", "1", ...


def to_data(thing: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a thing as arrays by name and one string of JSON, all of them copies.

    `np.savez` takes them, and what `np.load` makes of its file can be loaded.

    Examples
    --------
    >>> rows = np.zeros(3)
    >>> data = to_data({"t": 7, "w": np.ones(2), "rows": rows}, {"rows": rows})
    >>> data["json"]
    '{"dict": [["t", 7], ["w", {"array": 0}], ["rows", {"given": "rows"}]]}'
    >>> from_data(data, {"rows": "other rows"})
    {'t': 7, 'w': array([1., 1.]), 'rows': 'other rows'}
    """
    writer = _Writer(given)
    tree = writer.tree_of(thing, "it")
    writer.check_overlaps()
    text = json.dumps(tree, allow_nan=False)
    return {TREE: text, **{str(k): copied(array) for k, array in enumerate(writer.arrays)}}


def from_data(data: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """Return the thing that was saved, with what is given in its place."""
    return _Reader(data, given).thing_of(json.loads(str(data[TREE])))


def copied(array: Any) -> Any:
    """Return a copy without gaps, in the same order of memory."""
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return np.array(array, order="F" if is_fortran else "C")


class _Writer:
    """Turns things into trees, and collects their arrays."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = {id(thing): name for name, thing in given.items()}
        self.arrays: list[Any] = []
        self.paths: list[str] = []
        self.number_of: dict[Any, int] = {}  # of an array, by where it lies and how
        self.seen: dict[int, str] = {}  # objects that can change, by id

    def tree_of(self, thing: Any, path: str) -> Any:
        """Return the JSON of a thing that is at `path`."""
        if id(thing) in self.given:
            return {"given": self.given[id(thing)]}
        if isinstance(thing, np.ndarray | np.generic):
            return self._array(thing, path)
        if thing is None or isinstance(thing, bool | int | str):
            return thing
        if isinstance(thing, float):
            return thing if math.isfinite(thing) else {"float": str(thing)}
        if isinstance(thing, slice):
            return {"slice": [thing.start, thing.stop, thing.step]}
        if type(thing) is tuple:
            return {"tuple": self._list(thing, path)}
        if is_ours(type(thing)):
            return self._object(thing, path)
        self._must_be_new(thing, path)
        if type(thing) is list:
            return self._list(thing, path)
        if type(thing) is dict:
            of_key = [[key, self.tree_of(value, f"{path}.{key}")] for key, value in thing.items()]
            return {"dict": of_key}
        raise NotSaved(f"{path} is no data, but {thing!r}, and cannot be saved.")

    def _list(self, things: Any, path: str) -> list[Any]:
        return [self.tree_of(thing, f"{path}[{k}]") for k, thing in enumerate(things)]

    def _object(self, thing: Any, path: str) -> Any:
        is_tuple = isinstance(thing, tuple)
        if not is_tuple:
            self._must_be_new(thing, path)
        fields = thing._asdict() if is_tuple else thing.__getstate__() or {}
        trees = {name: self.tree_of(value, f"{path}.{name}") for name, value in fields.items()}
        return {"object": name_of(type(thing)), "fields": trees}

    def _must_be_new(self, thing: Any, path: str) -> None:
        """Refuse an object that is in two places: loaded, there would be two of it."""
        if id(thing) in self.seen:
            raise NotSaved(f"{path} and {self.seen[id(thing)]} are one object; keep one of them.")
        self.seen[id(thing)] = path

    def _array(self, array: Any, path: str) -> Any:
        if array.dtype.hasobject:
            raise NotSaved(f"{path} is an array of Python objects and cannot be saved.")
        if isinstance(array, np.generic):
            self.arrays.append(np.array(array))
            self.paths.append(path)
            return {"scalar": len(self.arrays) - 1}
        where = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
        if where not in self.number_of or array.size == 0:
            self.number_of[where] = len(self.arrays)
            self.arrays.append(array)
            self.paths.append(path)
        return {"array" if array.flags.writeable else "constant": self.number_of[where]}

    def check_overlaps(self) -> None:
        """Refuse arrays that lie over each other."""
        ends = [bounds_of(array) for array in self.arrays]
        last, last_writeable = -1, -1  # whose end is farthest, of all so far
        for k in sorted(range(len(ends)), key=lambda k: ends[k]):
            first, stop = ends[k]
            other = last if self.arrays[k].flags.writeable else last_writeable
            if other >= 0 and first < ends[other][1] and first < stop:
                raise NotSaved(
                    f"{self.paths[k]} and {self.paths[other]} share memory, which they would not "
                    "once they are loaded."
                )
            if last < 0 or stop > ends[last][1]:
                last = k
            if self.arrays[k].flags.writeable:  # none overlaps another
                last_writeable = k


class _Reader:
    """Turns trees into things."""

    def __init__(self, data: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        self.data = data
        self.arrays: dict[int, Any] = {}
        self.kinds: dict[str, Callable[[Any], Any]] = {
            "given": lambda name: given[name],
            "float": float,
            "slice": lambda ends: slice(*ends),
            "tuple": lambda trees: tuple(self.thing_of(tree) for tree in trees),
            "dict": lambda trees: {key: self.thing_of(tree) for key, tree in trees},
            "scalar": lambda k: data[str(k)][()],
            "array": self._array,
            "constant": self._constant,
        }

    def thing_of(self, tree: Any) -> Any:
        """Return the thing that a tree stands for."""
        if isinstance(tree, list):
            return [self.thing_of(part) for part in tree]
        if not isinstance(tree, dict):
            return tree
        if "object" in tree:
            return self._object(class_of(tree["object"]), tree["fields"])
        ((kind, value),) = tree.items()
        return self.kinds[kind](value)

    def _object(self, kind: Any, trees: dict[str, Any]) -> Any:
        fields = {name: self.thing_of(tree) for name, tree in trees.items()}
        if issubclass(kind, tuple):
            return kind(**fields)
        thing = object.__new__(kind)
        set_state = getattr(thing, "__setstate__", vars(thing).update)
        set_state(fields)
        return thing

    def _array(self, k: int) -> Any:
        if k not in self.arrays:
            self.arrays[k] = copied(self.data[str(k)])
        return self.arrays[k]

    def _constant(self, k: int) -> Any:
        view = self._array(k).view()
        view.flags.writeable = False
        return view


def is_ours(kind: type) -> bool:
    """Whether objects of a class are taken apart."""
    is_plain = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")
    return is_plain and kind.__module__.startswith(f"{PACKAGE}.")


def name_of(kind: type) -> str:
    """Return what a class is saved under."""
    return f"{kind.__module__}:{kind.__qualname__}"


def class_of(name: str) -> type:
    """Return a class of this library by the name it is saved under; nothing is imported."""
    module, _, qualified = name.partition(":")
    found = vars(sys.modules[module]).get(qualified) if module in sys.modules else None
    if not (isinstance(found, type) and is_ours(found)):
        raise NotSaved(f"{name} is no class that this version of {PACKAGE} saves.")
    return found


def bounds_of(array: Any) -> tuple[int, int]:
    """Return where in memory an array begins and ends."""
    first: int = array.__array_interface__["data"][0]
    if array.size == 0:
        return first, first
    reach = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    return first + low, first + high + array.itemsize
