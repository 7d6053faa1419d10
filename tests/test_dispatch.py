"""Type-tag dispatch: one function, an implementation per tag, compiled or not."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from pegasos.dispatch import by_tag, compiled, inlined, reordering_sums
from pegasos.numba_private.intrinsics import larger, prefetch


class Times(NamedTuple):
    factor: float


class Plus(NamedTuple):
    term: float


@by_tag
def apply(tag, x):
    """Apply a tag to a number."""


@apply.register(Times)
def _(tag, x):
    return tag.factor * x


@apply.register(Plus)
def _(tag, x):
    return tag.term + x


@compiled
def apply_twice(pair, x):
    first, second = pair
    return apply(second, apply(first, x))


@pytest.mark.fast
def test_implementation_is_chosen_by_the_class_of_the_tag():
    assert apply(Times(3.0), 2.0) == 6.0
    assert apply(Plus(3.0), 2.0) == 5.0


@pytest.mark.fast
def test_compiled_code_chooses_as_plain_python_does():
    assert apply_twice((Times(3.0), Plus(1.0)), 2.0) == 7.0
    assert apply_twice((Plus(1.0), Times(3.0)), 2.0) == 9.0


@pytest.mark.fast
def test_generic_function_keeps_its_name_and_docstring():
    assert apply.__name__ == "apply"
    assert apply.__doc__ == "Apply a tag to a number."


@pytest.mark.fast
def test_unknown_tag_is_an_error():
    class Unknown(NamedTuple):
        pass

    with pytest.raises(KeyError):
        apply(Unknown(), 1.0)


@pytest.mark.fast
def test_tags_that_register_nothing_have_the_default():
    @by_tag
    def double(tag, x):
        """Double a number."""

    @double.register(Plus)
    def _(tag, x):
        return 2.0 * (x + tag.term)

    @double.otherwise
    def _(tag, x):
        return 2.0 * x

    @compiled
    def doubled(tag, x):
        return double(tag, x)

    for function in (double, doubled):
        assert function(Plus(1.0), 3.0) == 8.0
        assert function(Times(5.0), 3.0) == 6.0


@pytest.mark.fast
def test_tag_registered_late_is_found_by_compiled_code():
    class Minus(NamedTuple):
        term: float

    @apply.register(Minus)
    def _(tag, x):
        return x - tag.term

    assert apply_twice((Minus(1.0), Minus(2.0)), 5.0) == 2.0


needs_compiler = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@needs_compiler
def test_kernels_of_lasting_tags_are_cached_on_disk_and_others_are_not(monkeypatch):
    class Fleeting(NamedTuple):
        factor: float

    Fleeting.is_of_this_process = True

    @apply.register(Fleeting)
    def _(tag, x):
        return tag.factor * x

    saved = []
    kind = type(apply_twice._cache).__mro__[1]
    monkeypatch.setattr(kind, "save_overload", lambda self, sig, data: saved.append(sig))
    monkeypatch.setattr(kind, "load_overload", lambda self, sig, context: None)

    @compiled
    def once(nested, x):
        return apply(nested[0][0], x)

    assert once(((Fleeting(2.0), 1), 0), 3.0) == 6.0  # however deep the tag is hidden
    assert saved == []
    assert once(((Times(2.0), 1), 0), 3.0) == 6.0
    assert len(saved) == 1


@needs_compiler
def test_kernels_release_the_lock_and_keep_ieee_arithmetic():
    assert apply_twice.targetoptions["nogil"]
    assert not apply_twice.targetoptions.get("fastmath", False)


@pytest.mark.fast
def test_sums_may_be_reordered_but_nan_and_infinity_remain():
    @reordering_sums
    def total(x):
        result = 0.0
        for value in x:
            result += value
        return result

    assert total(np.arange(100.0)) == 4950.0
    assert np.isnan(total(np.array([1.0, np.nan])))
    assert total(np.array([1.0, np.inf])) == np.inf


@pytest.mark.fast
def test_prefetch_changes_nothing():
    @compiled
    def touch(array):
        for i in range(array.size):
            prefetch(array, i)
        return array.sum()

    assert touch(np.arange(5.0)) == 10.0


@inlined
def largest(x):
    top = -np.inf
    for k in range(len(x)):
        top = larger(x[k], top)
    return top


@compiled
def largest_of(x):
    return largest(x)


@pytest.mark.fast
def test_larger_finds_the_largest():
    x = np.random.default_rng(0).standard_normal(1001)
    for some in (x, x[:1], -np.abs(x), np.array([-np.inf, 3.0, np.inf]), np.full(9, -np.inf)):
        assert largest_of(some) == some.max()
    assert largest_of(x[:0]) == -np.inf
