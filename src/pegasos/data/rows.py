"""Row containers: the only place that knows dense from sparse.

A container answers, for its row x_i:

    scores(rows, i, W, z)      z_k  = <w_k, x_i>           for every model k
    add(rows, i, c, W)         w_k += c_k x_i              for every model k
    add_scaled(rows, i, c, B, W)   w_k += c_k B_k * x_i    the same, coordinate by coordinate
    square_norm(rows, i)       ||x_i||^2
    sizes(rows, i, W, z)       z_k  = sum_j |w_kj x_ij|    what rounding of a score scales with
    find(rows, i)              a hint that row i is to be fetched soon
    fetch(rows, i)             a hint that row i is needed soon

`W` is one weight vector of shape (d,) or many stored side by side, shape (d, K): a row is then read
once and serves K models. Rows may be seen from a centre m: x_i is then x_i - m throughout, and no
row is changed for it (`centre`). All arrays inside a container are read-only, so that ordinary
arrays and read-only memory maps are one and the same type to a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from pegasos.dispatch import by_tag, compiled, inlined, reordering_sums
from pegasos.numba_private.intrinsics import prefetch
from pegasos.numba_private.row_sums import add_to_rows, sum_rows
from pegasos.parallel import each, ranges

LINE = 64  # bytes of memory that are read together,
PER_LINE = LINE // 8  # and double precision numbers
AHEAD = 8  # rows between the one being read and the one being fetched
VALUES_PER_PART = 1_000_000  # that threads take where little is done to a value
ROUNDING = 16 * float(np.finfo(np.float64).eps)

FloatArray: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def read_only(array: Any) -> Any:
    """View an array as read-only, booleans as bytes: one type to kernels whatever it was."""
    view = (array.view(np.uint8) if array.dtype == np.bool_ else array).view(np.ndarray)
    view = view[...]
    view.flags.writeable = False
    return view


class Centre(NamedTuple):
    """The point m that rows are seen from, q_i = <m, x_i> for compressed rows, and ||m||^2.

    Empty arrays stand for the origin: rows as they are.
    """

    m: FloatArray
    q: FloatArray
    square: float


UNKNOWN = -1.0  # stands for a largest value that nobody has looked for
ORIGIN = Centre(read_only(np.zeros(0)), read_only(np.zeros(0)), 0.0)


class DenseRows(NamedTuple):
    """Rows of a dense array in any memory order and of any real type.

    `largest` is max |x_ij|, or more where these are some of the rows that it was looked for in.
    """

    X: Any
    centre: Centre = ORIGIN
    largest: float = UNKNOWN


class CsrRows(NamedTuple):
    """Rows in compressed form; `indices` and `indptr` are unsigned views, validated beforehand.

    Seen from a centre, w = v - t m is kept as v, t and <v, m>, two rows of W more than features, so
    that a step still costs the stored values of its row:

        <w, x_i - m> = <v, x_i> - t (q_i - ||m||^2) - <v, m>

    `largest` is that of `DenseRows`.
    """

    data: Any
    indices: Any
    indptr: Any
    width: int
    centre: Centre = ORIGIN
    largest: float = UNKNOWN


Rows: TypeAlias = Any  # DenseRows, CsrRows, or a container with `shape`, `size`, `precision`


def room_for(height: int, K: int) -> FloatArray:
    """Return weights (height, K), all 0, from the beginning of a line of memory on."""
    room = np.zeros(height * K + PER_LINE - 1)  # the rows of W then lie in as few as can be
    first = -room.ctypes.data % LINE // room.itemsize
    return room[first : first + height * K].reshape(height, K)


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def as_rows(X: Any, largest: float = UNKNOWN) -> Rows:
    """Wrap a validated array or CSR matrix, and its largest |x_ij| if known, without copying it.

    Only arrays of a CSR matrix that are views with gaps are copied: kernels read them on end.
    """
    if is_sparse(X):
        data, indices, indptr = map(np.ascontiguousarray, (X.data, X.indices, X.indptr))
        return CsrRows(
            read_only(data), read_only(_unsigned(indices)), read_only(_unsigned(indptr)),
            X.shape[1], largest=largest,
        )  # fmt: skip
    return DenseRows(read_only(X), largest=largest)


def shape(rows: Rows) -> tuple[int, int]:
    """Return the numbers of rows and of features."""
    if isinstance(rows, CsrRows):
        return len(rows.indptr) - 1, rows.width
    n, d = rows.X.shape if isinstance(rows, DenseRows) else rows.shape
    return n, d


def some_rows_of(rows: Rows, chosen: Any) -> Rows:
    """Return a copy of some rows, given by their numbers."""
    if isinstance(rows, DenseRows):
        return rows._replace(X=read_only(np.ascontiguousarray(rows.X[chosen])))
    starts = rows.indptr[chosen].astype(np.int64)
    lengths = rows.indptr[chosen + 1].astype(np.int64) - starts
    ends = np.cumsum(lengths)
    places = np.repeat(starts - ends + lengths, lengths) + np.arange(lengths.sum())
    indptr = np.concatenate([[0], ends]).astype(rows.indptr.dtype)
    data, indices = rows.data[places], rows.indices[places]
    return CsrRows(read_only(data), read_only(indices), read_only(indptr), rows.width)


def stored_values(rows: Rows) -> int:
    """Return the number of values that one pass over all rows reads."""
    if isinstance(rows, DenseRows):
        return rows.X.size
    return rows.data.size if isinstance(rows, CsrRows) else rows.size


def stored_bytes(rows: Rows) -> int:
    """Return the memory that one pass over all rows reads."""
    if isinstance(rows, CsrRows):
        return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    return rows.X.nbytes


def largest_value(rows: Rows) -> float:
    """Return max |x_ij|, or what is known to be no less."""
    if rows.largest != UNKNOWN:
        return float(rows.largest)
    return largest_size(rows.data if isinstance(rows, CsrRows) else rows.X)


def largest_size(values: Any) -> float:
    """Return the largest size of values, NaN if one of them is."""
    of_parts = over_parts(
        values, lambda some: max(float(some.max(initial=0)), -float(some.min(initial=0)))
    )
    return float(of_parts.max(initial=0.0))


def over_parts(values: Any, of_part: Callable[[Any], Any]) -> FloatArray:
    """Return what is found of parts of an array, on threads: a number of each, in order."""
    parts = ranges(len(values), max(1, VALUES_PER_PART * len(values) // max(1, values.size)))
    found = np.zeros(len(parts))

    def work(p: int) -> None:
        found[p] = of_part(values[slice(*parts[p])])

    each(work, range(len(parts)))
    return found


def longest_row(rows: Rows) -> int:
    """Return the largest number of stored values of a row."""
    if isinstance(rows, CsrRows):
        return int(_longest(rows.indptr))
    return int(rows.X.shape[1])


def float_type(rows: Rows) -> np.dtype[Any]:
    """Return the type in which weights for these rows are handed out: float32 for float32 data."""
    if isinstance(rows, DenseRows):
        kind = rows.X.dtype
    else:
        kind = rows.data.dtype if isinstance(rows, CsrRows) else rows.precision
    return np.dtype(np.float32 if kind == np.float32 else np.float64)


def _unsigned(array: Any) -> Any:
    """View indices as unsigned: they index without the wrap-around test of negative numbers."""
    return array.view(np.uint32 if array.dtype == np.int32 else np.uint64)


@by_tag
def scores(rows: Any, i: int, W: Any, z: Any) -> None:
    """Write <w_k, x_i> into z[k] for every model k."""


@by_tag
def add(rows: Any, i: int, c: Any, W: Any) -> None:
    """Add c[k] x_i to w_k for every model k, in place."""


@by_tag
def add_scaled(rows: Any, i: int, c: Any, B: Any, W: Any) -> None:
    """Add c[k] B_kj x_ij to w_kj for every model k, in place; rows are not seen from a centre."""


@by_tag
def square_norm(rows: Any, i: int) -> float:
    """Return ||x_i||^2."""


@by_tag
def sizes(rows: Any, i: int, W: Any, z: Any) -> None:
    """Write sum_j |w_kj x_ij| into z[k] for every model k; W is (d, K)."""


@by_tag
def find(rows: Any, i: int) -> None:
    """Hint that row i will be fetched soon, for which its place has to be known."""


@find.otherwise
def _(rows, i):  # type: ignore[no-untyped-def]
    pass


@by_tag
def fetch(rows: Any, i: int) -> None:
    """Hint that row i will be read soon."""


@reordering_sums
def _dense_product(X, i, w):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(w.shape[0]):
        total += X[i, j] * w[j]
    return total


@reordering_sums
def _centred_product(X, i, m, w):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(w.shape[0]):
        total += (X[i, j] - m[j]) * w[j]
    return total


@reordering_sums
def _sum_of_squares(values, start, stop):  # type: ignore[no-untyped-def]
    total = 0.0
    for p in range(start, stop):
        x = np.float64(values[p])
        total += x * x
    return total


@inlined
def _sparse_product(rows, i, w):  # type: ignore[no-untyped-def]
    # Four sums hide the latency of loads and additions. Left to vectorise, this loop becomes gather
    # instructions, which take twice the time on processors with the gather mitigation.
    data, indices = rows.data, rows.indices
    p, stop = np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1])
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    while p + 4 <= stop:
        a += data[p] * w[indices[p]]
        b += data[p + 1] * w[indices[p + 1]]
        c += data[p + 2] * w[indices[p + 2]]
        d += data[p + 3] * w[indices[p + 3]]
        p += 4
    while p < stop:
        a += data[p] * w[indices[p]]
        p += 1
    return (a + b) + (c + d)


@scores.register(DenseRows)
def _(rows, i, W, z):  # type: ignore[no-untyped-def]
    X, m = rows.X, rows.centre.m
    is_centred = len(m) > 0
    if W.ndim == 1:
        z[0] = _centred_product(X, i, m, W) if is_centred else _dense_product(X, i, W)
    else:
        z[:] = 0.0
        for j in range(W.shape[0]):
            x = X[i, j] - m[j] if is_centred else np.float64(X[i, j])
            if x != 0:
                for k in range(W.shape[1]):
                    z[k] += x * W[j, k]


@add.register(DenseRows)
def _(rows, i, c, W):  # type: ignore[no-untyped-def]
    X, m = rows.X, rows.centre.m
    is_centred = len(m) > 0
    if W.ndim == 1 and is_centred:
        for j in range(W.shape[0]):
            W[j] += c[0] * (X[i, j] - m[j])
    elif W.ndim == 1:
        for j in range(W.shape[0]):
            W[j] += c[0] * X[i, j]
    else:
        for j in range(W.shape[0]):
            x = X[i, j] - m[j] if is_centred else np.float64(X[i, j])
            if x != 0:
                for k in range(W.shape[1]):
                    W[j, k] += c[k] * x


@add_scaled.register(DenseRows)
def _(rows, i, c, B, W):  # type: ignore[no-untyped-def]
    X = rows.X
    for j in range(W.shape[0]):
        if W.ndim == 1:
            W[j] += c[0] * B[j] * X[i, j]
        else:
            for k in range(W.shape[1]):
                W[j, k] += c[k] * B[j, k] * X[i, j]


@square_norm.register(DenseRows)
def _(rows, i):  # type: ignore[no-untyped-def]
    total, m = 0.0, rows.centre.m
    is_centred = len(m) > 0
    for j in range(rows.X.shape[1]):
        x = np.float64(rows.X[i, j])  # float() keeps float32 in Numba
        x = x - m[j] if is_centred else x
        total += x * x
    return total


@sizes.register(DenseRows)
def _(rows, i, W, z):  # type: ignore[no-untyped-def]
    z[:] = 0.0
    for j in range(W.shape[0]):
        x = abs(np.float64(rows.X[i, j]))
        for k in range(W.shape[1]):
            z[k] += x * abs(W[j, k])


@fetch.register(DenseRows)
def _(rows, i):  # type: ignore[no-untyped-def]
    X = rows.X
    if X.strides[1] == X.itemsize and X.strides[0] == X.shape[1] * X.itemsize:
        start = i * X.shape[1]
        for j in range(0, X.shape[1], 64 // X.itemsize):
            prefetch(X, start + j)


@scores.register(CsrRows)
def _(rows, i, W, z):  # type: ignore[no-untyped-def]
    (_, q, square), d = rows.centre, rows.width
    is_centred = len(q) > 0
    if W.ndim == 1:
        z[0] = _sparse_product(rows, i, W)
        if is_centred:
            z[0] -= W[d] * (q[i] - square) + W[d + 1]
    else:
        sum_rows(W, rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], z)
        if is_centred:
            for k in range(W.shape[1]):
                z[k] -= W[d, k] * (q[i] - square) + W[d + 1, k]


@add.register(CsrRows)
def _(rows, i, c, W):  # type: ignore[no-untyped-def]
    (_, q, _), d = rows.centre, rows.width
    is_centred = len(q) > 0
    if W.ndim == 1:
        step = c[0]
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            W[rows.indices[p]] += step * rows.data[p]
        if is_centred:
            W[d] += step
            W[d + 1] += step * q[i]
    else:
        add_to_rows(W, rows.data, rows.indices, rows.indptr[i], rows.indptr[i + 1], c)
        if is_centred:
            for k in range(W.shape[1]):
                W[d, k] += c[k]
                W[d + 1, k] += c[k] * q[i]


@add_scaled.register(CsrRows)
def _(rows, i, c, B, W):  # type: ignore[no-untyped-def]
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        x, j = rows.data[p], rows.indices[p]
        if W.ndim == 1:
            W[j] += c[0] * B[j] * x
        else:
            for k in range(W.shape[1]):
                W[j, k] += c[k] * B[j, k] * x


@square_norm.register(CsrRows)
def _(rows, i):  # type: ignore[no-untyped-def]
    (m, _, square), total, stored = rows.centre, 0.0, 0.0
    if len(m) == 0:
        return _sum_of_squares(rows.data, rows.indptr[i], rows.indptr[i + 1])
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        centre = m[rows.indices[p]]
        x, stored = np.float64(rows.data[p]) - centre, stored + centre * centre
        total += x * x
    rest = square - stored  # of the features that are 0 in this row
    return total + rest if rest > ROUNDING * square else total


@sizes.register(CsrRows)
def _(rows, i, W, z):  # type: ignore[no-untyped-def]
    z[:] = 0.0
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        x, j = abs(np.float64(rows.data[p])), rows.indices[p]
        for k in range(W.shape[1]):
            z[k] += x * abs(W[j, k])


@find.register(CsrRows)
def _(rows, i):  # type: ignore[no-untyped-def]
    prefetch(rows.indptr, i)


@fetch.register(CsrRows)
def _(rows, i):  # type: ignore[no-untyped-def]
    start, stop = rows.indptr[i], rows.indptr[i + 1]
    if start < stop:
        for p in range(start, stop, 16):
            prefetch(rows.data, p)
            prefetch(rows.indices, p)
        prefetch(rows.data, stop - 1)  # a row may begin inside a line
        prefetch(rows.indices, stop - 1)


@compiled
def _longest(indptr):  # type: ignore[no-untyped-def]
    """Return the largest number of stored values of a row."""
    most = np.int64(0)
    for i in range(1, len(indptr)):
        most = max(most, np.int64(indptr[i]) - np.int64(indptr[i - 1]))
    return most


@compiled
def square_norms(rows, start, stop, out):  # type: ignore[no-untyped-def]
    """Write ||x_i||^2 into out[i] for start <= i < stop."""
    for i in range(start, stop):
        out[i] = square_norm(rows, i)


@compiled
def all_scores(rows, start, stop, W, Z):  # type: ignore[no-untyped-def]
    """Write <w_k, x_i> into Z[i, k] for start <= i < stop."""
    z = np.empty(Z.shape[1])
    for i in range(start, stop):
        scores(rows, i, W, z)
        for k in range(len(z)):
            Z[i, k] = z[k]
