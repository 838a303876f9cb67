"""The four storages of the tangent: assembly by slots, solution, inertia, singular matrices."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.system.linear import (
    BandedGeneral,
    BandedSymmetric,
    Matrix,
    SingularError,
    SparseGeneral,
    SparseSymmetric,
    make_matrix,
    scatter,
    scatter_vector,
)

SIZE, WIDTH, STRIDE = 5, 9, 4
"""Elements, unknowns of an element, step from one element to the next."""
N = STRIDE * (SIZE - 1) + WIDTH
INDEX = STRIDE * np.arange(SIZE)[:, None] + np.arange(WIDTH)
PAIRS = [
    (
        np.broadcast_to(INDEX[:, :, None], (SIZE, WIDTH, WIDTH)).copy(),
        np.broadcast_to(INDEX[:, None, :], (SIZE, WIDTH, WIDTH)).copy(),
    )
]
KINDS = {
    "banded-symmetric": lambda: BandedSymmetric(N, WIDTH - 1),
    "banded-general": lambda: BandedGeneral(N, WIDTH - 1),
    "sparse-symmetric": lambda: SparseSymmetric(N, PAIRS, np.zeros(0, dtype=int)),
    "sparse-general": lambda: SparseGeneral(N, PAIRS),
}


def element_blocks(symmetric: bool) -> np.ndarray:
    """Blocks (E, n, n) of a matrix, positive definite if symmetric."""
    rng = np.random.default_rng(2)
    blocks = rng.normal(size=(SIZE, WIDTH, WIDTH))
    if not symmetric:
        return blocks + 4.0 * np.eye(WIDTH)
    return blocks @ np.swapaxes(blocks, 1, 2) + np.eye(WIDTH)


def dense(blocks: np.ndarray) -> np.ndarray:
    A = np.zeros((N, N))
    for at, block in zip(INDEX, blocks, strict=True):
        A[np.ix_(at, at)] += block
    return A


def fill(matrix: Matrix, blocks: np.ndarray) -> None:
    matrix.data[...] = 0.0
    scatter(matrix.slots(*PAIRS[0]), blocks, matrix.data)


@pytest.mark.parametrize("kind", list(KINDS))
def test_assembled_systems_are_solved(kind: str, rng: np.random.Generator) -> None:
    matrix = KINDS[kind]()
    blocks = element_blocks("symmetric" in kind)
    for scale in (1.0, 3.0):  # storages are filled again and again
        fill(matrix, scale * blocks)
        matrix.factorise()
        b = rng.normal(size=N)
        assert scale * dense(blocks) @ matrix.solve(b) == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("kind", ["banded-symmetric", "sparse-symmetric"])
@pytest.mark.parametrize("negative", [0, 1, 3])
def test_symmetric_storages_count_negative_eigenvalues(kind: str, negative: int) -> None:
    matrix = KINDS[kind]()
    blocks = element_blocks(True)
    for unknown in range(negative):
        blocks[unknown, 4, 4] -= 1e3
    fill(matrix, blocks)
    matrix.factorise()
    eigenvalues = np.linalg.eigvalsh(dense(blocks))
    assert matrix.negative == np.count_nonzero(eigenvalues < 0) == negative
    b = np.ones(N)
    assert dense(blocks) @ matrix.solve(b) == pytest.approx(b, abs=1e-8)


@pytest.mark.parametrize("kind", ["banded-general", "sparse-general"])
def test_general_storages_report_no_inertia(kind: str) -> None:
    matrix = KINDS[kind]()
    fill(matrix, element_blocks(False))
    matrix.factorise()
    assert matrix.negative is None


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_singular_matrix_is_refused(kind: str) -> None:
    matrix = KINDS[kind]()
    blocks = element_blocks("symmetric" in kind)
    blocks[1, 4, :] = blocks[1, :, 4] = 0.0  # unknown 8 of three elements
    blocks[0, 8, :] = blocks[0, :, 8] = 0.0
    blocks[2, 0, :] = blocks[2, :, 0] = 0.0
    assert np.linalg.matrix_rank(dense(blocks)) == N - 1
    fill(matrix, blocks)
    with pytest.raises(SingularError, match="singular"):  # by factor or, at the latest, by answer
        matrix.factorise()
        matrix.solve(np.ones(N))
        matrix.solve(np.ones(N))


@pytest.mark.parametrize("kind", list(KINDS))
def test_unknowns_numbered_minus_one_are_left_out(kind: str) -> None:
    matrix = KINDS[kind]()
    blocks = element_blocks("symmetric" in kind)
    fill(matrix, blocks)
    before = matrix.data.copy()
    index = INDEX[:1].copy()
    index[0, :6] = -1
    rows = np.broadcast_to(index[:, :, None], (1, WIDTH, WIDTH)).copy()
    cols = np.broadcast_to(index[:, None, :], (1, WIDTH, WIDTH)).copy()
    more = np.zeros((1, WIDTH, WIDTH))
    more[:, :6] = 1e3
    more[:, :, :6] = 1e3
    scatter(matrix.slots(rows, cols), more, matrix.data)
    assert np.array_equal(matrix.data, before)
    out = np.zeros(N)
    scatter_vector(index, np.ones((1, WIDTH)), out)
    assert out.sum() == WIDTH - 6


# -- multipliers ----------------------------------------------------------------------------------


def saddle(free: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness (N, N) with `free` rigid motions and constraints (6, N) that hold them."""
    blocks = element_blocks(True)
    K = dense(blocks)
    values, vectors = np.linalg.eigh(K)
    K -= (vectors[:, :free] * values[:free]) @ vectors[:, :free].T
    return K, rng.normal(size=(6, N))


@pytest.mark.parametrize("free", [0, 6])
def test_constrained_systems_are_solved_with_their_inertia(
    free: int, rng: np.random.Generator
) -> None:
    """The stiffness alone may be singular, as for a rod that only constraints hold."""
    K, A = saddle(free, rng)
    whole = np.block([[K, A.T], [A, np.zeros((6, 6))]])
    every = np.arange(N + 6)[None]
    pairs = [(np.repeat(every[:, :, None], N + 6, 2), np.repeat(every[:, None, :], N + 6, 1))]
    matrix = SparseSymmetric(N + 6, pairs, np.arange(N, N + 6))
    scatter(matrix.slots(*pairs[0]), whole[None], matrix.data)
    matrix.factorise()
    b = rng.normal(size=N + 6)
    assert whole @ matrix.solve(b) == pytest.approx(b, abs=1e-8)
    assert matrix.negative == 6


def test_springs_in_the_gaps_make_up_for_missing_stiffness(rng: np.random.Generator) -> None:
    """Six unknowns without any stiffness of their own (the base of a free rod), held by six rows."""
    K = dense(element_blocks(True))
    K[:6] = K[:, :6] = 0.0
    A = np.zeros((6, N))
    A[:, :6] = np.eye(6)
    A[:, 6:] = 0.1 * rng.normal(size=(6, N - 6))
    whole = np.block([[K + A.T @ A, A.T], [A, np.zeros((6, 6))]])
    rows, cols = np.nonzero(whole)
    pairs = [(rows.reshape(1, 1, -1), cols.reshape(1, 1, -1))]
    matrix = SparseSymmetric(N + 6, pairs, np.arange(N, N + 6))
    scatter(matrix.slots(*pairs[0]), whole[rows, cols].reshape(1, 1, -1), matrix.data)
    matrix.factorise()
    b = rng.normal(size=N + 6)
    assert whole @ matrix.solve(b) == pytest.approx(b, abs=1e-8)
    assert matrix.negative == 6


def test_a_factor_is_renewed_after_a_singular_matrix_was_met(rng: np.random.Generator) -> None:
    """The pattern and ordering of the first factor serve all later ones, whatever came between."""
    matrix = SparseSymmetric(N, PAIRS, np.zeros(0, dtype=int))
    blocks = element_blocks(True)
    sparse = blocks.copy()
    sparse[::2] *= 1e-3 * np.eye(WIDTH)  # numbers that happen to vanish stay in the pattern
    sparse += np.eye(WIDTH)
    b = rng.normal(size=N)
    for attempt in (sparse, blocks, 0.0 * blocks, blocks, -blocks, np.nan * blocks, sparse):
        fill(matrix, attempt)
        if not np.any(np.nan_to_num(attempt)):
            with pytest.raises(SingularError):
                matrix.factorise()
                matrix.solve(b)
            continue
        matrix.factorise()
        assert matrix.negative == np.count_nonzero(np.linalg.eigvalsh(dense(attempt)) < 0)
        assert dense(attempt) @ matrix.solve(b) == pytest.approx(b, abs=1e-8)


# -- choice ---------------------------------------------------------------------------------------


def pattern(n: int, reach: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = np.arange(n)
    cols = np.minimum(rows + reach, n - 1)
    return [(rows.reshape(-1, 1, 1), cols.reshape(-1, 1, 1))]


@pytest.mark.parametrize(
    ("n", "reach", "multipliers", "symmetric", "expected"),
    [
        (1000, 40, 0, True, BandedSymmetric),
        (1000, 40, 0, False, BandedGeneral),
        (1000, 300, 0, True, SparseSymmetric),
        (1000, 300, 0, False, SparseGeneral),
        (1000, 40, 6, True, SparseSymmetric),
        (60, 59, 0, True, BandedSymmetric),
    ],
)
def test_narrow_chains_are_banded_and_everything_else_sparse(
    n: int, reach: int, multipliers: int, symmetric: bool, expected: type
) -> None:
    saddle = np.arange(n - multipliers, n)
    matrix = make_matrix(n, pattern(n, reach), saddle, multipliers, symmetric)
    assert isinstance(matrix, expected)
    if isinstance(matrix, BandedSymmetric | BandedGeneral):
        assert matrix.bandwidth == reach
