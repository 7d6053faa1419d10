"""Text-like rows: a generator standing in for RCV1/CCAT where the real corpus cannot be shipped.

A document is a bag of words drawn from a Zipf-Mandelbrot law, p(r) ~ 1/(r + SHIFT) over the ranks
r = 0..d-1, of a length that varies from row to row. Repeated words become a term count tf, and

    x_ij  ~  (1 + log tf_ij) * log(1 / share of documents that hold word j),      ||x_i|| = 1.

One pair of neighbouring ranks in `SPACING` is a pair of opposites (the same matter in the words of
one camp or the other). A document leans to a side and prefers that side's words, as real topics do;
independent words would leave no linear rule to be found. Labels come from the sparse separator u
with +-(0.5 to 1.5) on the opposites, blurred by Gaussian noise:

    y_i = sign(<u, x_i> + noise * spread * normal).

No offset is needed: the camps are equally strong, so both classes are about equally frequent.

Ranks are scattered over the columns by a permutation, as in an alphabetical vocabulary: what is
frequent is not contiguous in memory, which matters when this data is used to measure speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array

__all__ = ["textlike"]

SHIFT = 20.0  # flattens the head of the law, as removing stop words does
SPACING = 5  # one pair of words in five carries meaning
LEAN = 2.0  # spread of a document's leaning before it is squashed into (-1, 1)
LENGTH_SPREAD = 0.5  # standard deviation of the log of a document's length
BLOCK_ROWS = 8192  # rows made at once: bounds the memory used beside the result


def textlike(
    n: int = 200_000,
    d: int = 47_236,
    *,
    nonzeros: float = 75.0,
    noise: float = 0.1,
    random_state: int = 0,
    dtype: DTypeLike = np.float32,
) -> tuple[csr_array[Any, tuple[int, int]], NDArray[np.int64]]:
    """Generate text-like rows of unit length and labels from a noisy sparse separator.

    Parameters
    ----------
    n, d
        Rows and columns; the defaults are a quarter of RCV1's rows and all of its columns.
    nonzeros
        Stored entries per row on average (each row has at least one); at most d/2.
    noise
        Standard deviation of the noise added before taking the sign, relative to the spread of
        the noiseless scores. It flips about arctan(noise)/pi of the labels; 0 is separable.
    random_state
        Seed. The same arguments give the same bits.
    dtype
        float32 or float64, the type of the stored values.

    Returns
    -------
    X : csr_array of shape (n, d)
        Canonical (sorted, no duplicates), int32 indices.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Examples
    --------
    >>> from pegasos.data.textlike import textlike
    >>> X, y = textlike(n=100, d=500, nonzeros=8)
    >>> X.shape, X.has_canonical_format, sorted(set(y.tolist()))
    ((100, 500), True, [-1, 1])
    >>> bool(abs((X.multiply(X)).sum(axis=1) - 1).max() < 1e-6)
    True
    """
    check_arguments(n, d, nonzeros, noise, dtype)
    rng = np.random.default_rng(random_state)
    ranks = np.arange(d)
    p = np.log1p(1.0 / (ranks + SHIFT)) / np.log1p(d / SHIFT)  # P(rank), summing to 1
    lengths = document_lengths(rng, n, p, nonzeros)
    holding = -np.expm1(lengths.mean() * np.log1p(-p))  # share of documents that hold the word
    column = rng.permutation(d).astype(np.int32)
    idf = np.empty(d)
    idf[column] = -np.log(holding)
    side = np.where(ranks % 2 == 0, 1.0, -1.0) * is_opposite(ranks)
    u = np.empty(d)
    u[column] = side * rng.uniform(0.5, 1.5, d)

    parts = [
        block_of_rows(rng, lengths[start : start + BLOCK_ROWS], column, idf, np.dtype(dtype))
        for start in range(0, n, BLOCK_ROWS)
    ]
    data = np.concatenate([part[0] for part in parts])
    indices = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    if indptr[-1] < 2**31:  # SciPy keeps both index arrays of one type
        indptr = indptr.astype(np.int32)
    X = csr_array((data, indices, indptr), shape=(n, d))
    X.has_canonical_format = True
    score = X @ u
    score += noise * score.std() * rng.standard_normal(n)
    return X, np.where(score > 0.0, 1, -1)


def document_lengths(
    rng: np.random.Generator, n: int, p: NDArray[np.float64], nonzeros: float
) -> NDArray[np.int64]:
    """Draw log-normal numbers of words whose distinct words number `nonzeros` on average."""
    grid = np.geomspace(1.0, 1000.0 * len(p), 40)
    distinct = np.array([-np.expm1(size * np.log1p(-p)).sum() for size in grid])
    shape = np.exp(LENGTH_SPREAD * rng.standard_normal(n))
    low, high = 0.0, float(np.log(grid[-1]))
    for _ in range(40):
        middle = (low + high) / 2
        reached = np.interp(np.exp(middle) * shape[:10_000], grid, distinct).mean()
        low, high = (middle, high) if reached < nonzeros else (low, middle)
    lengths: NDArray[np.int64] = np.maximum(1, np.rint(np.exp(low) * shape)).astype(np.int64)
    return lengths


def block_of_rows(
    rng: np.random.Generator,
    lengths: NDArray[np.int64],
    column: NDArray[np.int32],
    idf: NDArray[np.float64],
    dtype: np.dtype[Any],
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Return (data, indices, entries per row) of one block of rows of unit length."""
    d = len(column)
    uniform = rng.random(int(lengths.sum()), dtype=np.float32)
    # Inverse of the cumulative law; float32 may round up to d itself.
    rank = (SHIFT * np.expm1(uniform * np.float32(np.log1p(d / SHIFT)))).astype(np.int32)
    np.minimum(rank, d - 1, out=rank)
    row = np.repeat(np.arange(len(lengths)), lengths)
    lean = np.tanh(LEAN * rng.standard_normal(len(lengths)))
    chosen = np.flatnonzero(is_opposite(rank) & ((rank | 1) < d))  # an odd d leaves one word single
    is_second = rng.uniform(-1.0, 1.0, len(chosen)) > lean[row[chosen]]
    rank[chosen] = (rank[chosen] & ~1) | is_second
    key = row * d + column[rank]
    key.sort()
    first = np.flatnonzero(np.diff(key, prepend=-1))
    tf = np.diff(first, append=len(key))
    row, index = np.divmod(key[first], d)
    value = (1.0 + np.log(tf)) * idf[index]
    norm = np.sqrt(np.bincount(row, weights=value * value, minlength=len(lengths)))
    value /= norm[row]
    return value.astype(dtype), index.astype(np.int32), np.bincount(row, minlength=len(lengths))


def is_opposite(rank: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which ranks belong to a pair of opposites."""
    return np.asarray((rank // 2) % SPACING == SPACING // 2)


def check_arguments(n: int, d: int, nonzeros: float, noise: float, dtype: DTypeLike) -> None:
    """Refuse sizes that cannot be met, naming the argument."""
    if n < 1 or d < 2:
        raise ValueError(f"n must be at least 1 and d at least 2; got n={n}, d={d}.")
    if d >= 2**31:
        raise ValueError(f"d must be below 2**31, the range of int32 indices; got d={d}.")
    if not 1.0 <= nonzeros <= d / 2:
        raise ValueError(f"nonzeros must lie between 1 and d/2 = {d / 2:g}; got {nonzeros}.")
    if not 0.0 <= noise < np.inf:
        raise ValueError(f"noise must be finite and not negative; got {noise}.")
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64; got {np.dtype(dtype)}.")
