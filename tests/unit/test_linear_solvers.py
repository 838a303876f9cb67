"""Both storages of the tangent: assembly by slots, solution, inertia, singular matrices, fill."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.linalg.matrices import (
    Banded,
    BandedSymmetric,
    Matrix,
    SingularError,
    Sparse,
    make_matrix,
)
from pliant.linalg.scatter import scatter, scatter_vector

SIZE, WIDTH, STRIDE = 5, 9, 4
"""Elements, unknowns of an element, step from one element to the next."""
N = STRIDE * (SIZE - 1) + WIDTH
INDEX = STRIDE * np.arange(SIZE)[:, None] + np.arange(WIDTH)
Pairs = list[tuple[np.ndarray, np.ndarray]]


def pairs_of(index: np.ndarray) -> Pairs:
    """Index pairs (E, a, a) of element blocks with unknowns (E, a)."""
    shape = (*index.shape, index.shape[1])
    return [
        (
            np.broadcast_to(index[:, :, None], shape).copy(),
            np.broadcast_to(index[:, None, :], shape).copy(),
        )
    ]


PAIRS = pairs_of(INDEX)
KINDS: dict[str, Callable[[], Matrix]] = {
    "banded-symmetric": lambda: BandedSymmetric(N, WIDTH - 1),
    "sparse-symmetric": lambda: Sparse(N, PAIRS, symmetric=True),
    "sparse-general": lambda: Sparse(N, PAIRS),
}


def element_blocks(symmetric: bool) -> np.ndarray:
    """Blocks (E, n, n) of a matrix, positive definite if symmetric."""
    rng = np.random.default_rng(2)
    blocks = rng.normal(size=(SIZE, WIDTH, WIDTH))
    if not symmetric:
        return blocks + 4.0 * np.eye(WIDTH)
    return blocks @ np.swapaxes(blocks, 1, 2) + np.eye(WIDTH)


def dense(blocks: np.ndarray, index: np.ndarray = INDEX) -> np.ndarray:
    A = np.zeros((index.max() + 1, index.max() + 1))
    for at, block in zip(index, blocks, strict=True):
        A[np.ix_(at, at)] += block
    return A


def fill(matrix: Matrix, blocks: np.ndarray, pairs: Pairs = PAIRS) -> None:
    matrix.data[...] = 0.0
    scatter(matrix.slots(*pairs[0]), blocks, matrix.data)


@pytest.mark.parametrize("kind", list(KINDS))
def test_assembled_systems_are_solved(kind: str, rng: np.random.Generator) -> None:
    matrix = KINDS[kind]()
    blocks = element_blocks("symmetric" in kind)
    for scale in (1.0, 3.0):  # storages are filled again and again
        fill(matrix, scale * blocks)
        matrix.factorise()
        b = rng.normal(size=N)
        assert scale * dense(blocks) @ matrix.solve(b) == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_factor_outlives_the_numbers_it_was_made_of(kind: str) -> None:
    """Newton's method may reuse a factor while the storage is filled anew."""
    matrix = KINDS[kind]()
    blocks = element_blocks("symmetric" in kind)
    fill(matrix, blocks)
    matrix.factorise()
    fill(matrix, 7.0 * blocks)
    assert dense(blocks) @ matrix.solve(np.ones(N)) == pytest.approx(np.ones(N), abs=1e-9)


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


def test_a_general_matrix_reports_no_inertia() -> None:
    matrix = Sparse(N, PAIRS)
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


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_motion_that_nothing_holds_is_refused(symmetric: bool, rng: np.random.Generator) -> None:
    """A chain of springs without an end: all unknowns may move alike."""
    index = np.arange(40)[:, None] + np.arange(2)
    matrix = Sparse(41, pairs_of(index), symmetric=symmetric)
    stiffness = 1.0 + rng.random(40)
    fill(matrix, stiffness[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]]), pairs_of(index))
    with pytest.raises(SingularError, match="singular"):
        matrix.factorise()
        matrix.solve(np.ones(41))


@pytest.mark.parametrize("kind", list(KINDS))
def test_unknowns_numbered_minus_one_are_left_out(kind: str) -> None:
    matrix = KINDS[kind]()
    blocks = element_blocks("symmetric" in kind)
    fill(matrix, blocks)
    before = matrix.data.copy()
    index = INDEX[:1].copy()
    index[0, :6] = -1
    more = np.zeros((1, WIDTH, WIDTH))
    more[:, :6] = 1e3
    more[:, :, :6] = 1e3
    scatter(matrix.slots(*pairs_of(index)[0]), more, matrix.data)
    assert np.array_equal(matrix.data, before)
    out = np.zeros(N)
    scatter_vector(index, np.ones((1, WIDTH)), out)
    assert out.sum() == WIDTH - 6


# -- robots of any shape --------------------------------------------------------------------------

POSE = 6


def chain(count: int, base: int, first: int) -> list[list[int]]:
    """Elements of three neighbouring nodes, of a chain of `count` nodes from `first` on node `base`."""
    nodes = ([] if base < 0 else [base]) + list(range(first, first + count))
    return [nodes[k : k + 3] for k in range(max(1, len(nodes) - 2))]


def unknowns(elements: list[list[int]]) -> np.ndarray:
    """(E, 18): unknowns of elements of nodes with six each; short elements repeat none."""
    index = np.full((len(elements), 3 * POSE), -1)
    for row, nodes in zip(index, elements, strict=True):
        own = (POSE * np.array(nodes)[:, None] + np.arange(POSE)).ravel()
        row[: len(own)] = own
    return index


def star(arms: int, count: int = 8) -> np.ndarray:
    return unknowns([e for k in range(arms) for e in chain(count, 0, 1 + k * count)])


def tree(rng: np.random.Generator) -> np.ndarray:
    """Chains that grow from random nodes of each other."""
    elements, nodes = chain(4, -1, 0), 4
    for _ in range(8):
        count = int(rng.integers(2, 7))
        elements += chain(count, int(rng.integers(nodes)), nodes)
        nodes += count
    return unknowns(elements)


def loop(rng: np.random.Generator) -> np.ndarray:
    """A tree with a few elements between any two of its nodes."""
    index = tree(rng)
    nodes = index.max() // POSE + 1
    return np.concatenate([index, unknowns([list(rng.integers(nodes, size=2)) for _ in range(3)])])


SHAPES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "chain": lambda rng: unknowns(chain(30, -1, 0)),
    "star": lambda rng: star(12, 4),
    "tree": tree,
    "loop": loop,
    "full": lambda rng: unknowns([[0, 1, 2]]),
}


@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_robots_of_any_shape_are_solved_as_by_dense_matrices(
    shape: str, symmetric: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    index = SHAPES[shape](rng)
    n = index.max() + 1
    a = index.shape[1]
    blocks = rng.normal(size=(len(index), a, a))
    blocks = blocks @ np.swapaxes(blocks, 1, 2) + np.eye(a)
    if symmetric:
        blocks[::3] *= -1.0  # as many unstable directions as there may be
    else:
        blocks += 0.5 * rng.normal(size=blocks.shape)
    A = np.zeros((n + 1, n + 1))  # the last row and column take what is left out
    for at, block in zip(index, blocks, strict=True):
        np.add.at(A, (at[:, None], at[None, :]), block)
    A = A[:n, :n]
    matrix = Sparse(n, pairs_of(index), symmetric=symmetric)
    fill(matrix, blocks, pairs_of(index))
    assert matrix.matrix.toarray() == pytest.approx(A)
    matrix.factorise()
    if symmetric:
        assert matrix.negative == np.count_nonzero(np.linalg.eigvalsh(A) < 0)
    for b in rng.normal(size=(3, n)):
        truth = np.linalg.solve(A, b)
        assert matrix.solve(b) == pytest.approx(truth, abs=1e-9 * np.abs(truth).max())


def test_an_order_without_row_exchanges_that_fails_is_rescued(rng: np.random.Generator) -> None:
    """Coordinates without a diagonal, which no robot has: rows must be exchanged."""
    A = np.kron(np.eye(10), np.array([[0.0, 1.0], [1.0, 0.0]])) + 1e-11 * np.eye(20)
    A += 0.05 * np.triu(rng.normal(size=(20, 20)), 2)
    rows, cols = np.nonzero(A)
    pairs = [(rows.reshape(1, 1, -1), cols.reshape(1, 1, -1))]
    matrix = Sparse(20, pairs)
    scatter(matrix.slots(*pairs[0]), A[rows, cols].reshape(1, 1, -1), matrix.data)
    matrix.factorise()
    b = rng.normal(size=20)
    for _ in range(2):  # the second time with the factor of the first
        assert A @ matrix.solve(b) == pytest.approx(b, abs=1e-9)


# -- fields and multipliers -----------------------------------------------------------------------


def saddle(free: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness (N, N) with `free` rigid motions and constraints (6, N) that hold them."""
    blocks = element_blocks(True)
    K = dense(blocks)
    values, vectors = np.linalg.eigh(K)
    K -= (vectors[:, :free] * values[:free]) @ vectors[:, :free].T
    return K, rng.normal(size=(6, N))


def filled(whole: np.ndarray, multipliers: int, symmetric: bool = True) -> Sparse:
    """A matrix with the given numbers, the last unknowns of which are multipliers."""
    n = len(whole)
    rows, cols = np.nonzero(whole)
    pairs = [(rows.reshape(1, 1, -1), cols.reshape(1, 1, -1))]
    matrix = Sparse(n, pairs, np.arange(n - multipliers, n), multipliers, symmetric)
    scatter(matrix.slots(*pairs[0]), whole[rows, cols].reshape(1, 1, -1), matrix.data)
    matrix.factorise()
    return matrix


@pytest.mark.parametrize("free", [0, 6])
def test_constrained_systems_are_solved_with_their_inertia(
    free: int, rng: np.random.Generator
) -> None:
    """The stiffness alone may be singular, as for a rod that only constraints hold."""
    K, A = saddle(free, rng)
    whole = np.block([[K, A.T], [A, np.zeros((6, 6))]])
    matrix = filled(whole, 6)
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
    matrix = filled(whole, 6)
    b = rng.normal(size=N + 6)
    assert whole @ matrix.solve(b) == pytest.approx(b, abs=1e-8)
    assert matrix.negative == 6


@pytest.mark.parametrize("symmetric", [True, False])
def test_redundant_constraints_that_can_be_met_do_no_harm(
    symmetric: bool, rng: np.random.Generator
) -> None:
    """Four rows and four sums of them; half of the coordinates are held by none."""
    K = dense(element_blocks(True))
    A = np.zeros((8, N))
    A[:4, : N // 2] = rng.normal(size=(4, N // 2))
    A[4:] = rng.normal(size=(4, 4)) @ A[:4]
    back = A if symmetric else A * (1.0 + 0.1 * rng.random(N))
    whole = np.block([[K, back.T], [A, np.zeros((8, 8))]])
    matrix = filled(whole, 8, symmetric)
    b = whole @ rng.normal(size=N + 8)
    x = matrix.solve(b)
    assert whole @ x == pytest.approx(b, abs=1e-8)
    held = np.block([[K, back[:4].T], [A[:4], np.zeros((4, 4))]])
    assert x[:N] == pytest.approx(np.linalg.solve(held, b[: N + 4])[:N], abs=1e-7)
    assert matrix.lost == 4
    assert matrix.negative == (8 if symmetric else None)


def test_constraints_that_cannot_be_met_are_refused(rng: np.random.Generator) -> None:
    K = dense(element_blocks(True))
    A = np.repeat(rng.normal(size=(1, N)), 2, axis=0)
    matrix = filled(np.block([[K, A.T], [A, np.zeros((2, 2))]]), 2)
    b = np.zeros(N + 2)
    b[-1] = 1.0
    with pytest.raises(SingularError, match="singular"):
        matrix.solve(b)


@pytest.mark.parametrize("compliance", [1e-2, 1e-9])
@pytest.mark.parametrize("last", [False, True], ids=["interleaved", "numbered last"])
@pytest.mark.parametrize("backward", [False, True])
def test_fields_carry_the_stiffness_of_coordinates_that_have_none(
    compliance: float, last: bool, backward: bool, rng: np.random.Generator
) -> None:
    """Node k meets the fields k - 2 to k, as in a spline; half of its unknowns have no stiffness.

    In an order that takes coordinates before their fields, pivots vanish.
    """
    nodes = 20
    n = 9 * nodes
    field = np.arange(3) + 9 * np.arange(nodes)[:, None]
    pose = field[:, :1] + 3 + np.arange(6)
    whole, known = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    for k in range(nodes):
        near = range(k, min(nodes, k + 3))
        known[np.ix_(pose[near].ravel(), pose[near].ravel())] = True
        known[np.ix_(field[k], field[k])] = True
        bent = pose[near, :3].ravel()
        B = rng.normal(size=(len(bent), len(bent)))
        whole[np.ix_(bent, bent)] += B @ B.T
        whole[np.ix_(field[k], field[k])] -= compliance * np.eye(3)
        for j in near:
            C = 0.2 * rng.normal(size=(3, 6)) + (j == k) * np.eye(3, 6, k=3)
            whole[np.ix_(field[k], pose[j])] = C
            whole[np.ix_(pose[j], field[k])] = C.T
    order = np.concatenate([pose.ravel(), field.ravel()]) if last else np.arange(n)
    order = order[::-1] if backward else order
    whole = whole[np.ix_(order, order)]
    rows, cols = np.nonzero(known[np.ix_(order, order)] | (whole != 0.0))
    pairs = [(rows.reshape(1, 1, -1), cols.reshape(1, 1, -1))]
    matrix = Sparse(n, pairs, np.flatnonzero(np.diag(whole) < 0), 0, True)
    scatter(matrix.slots(*pairs[0]), whole[rows, cols].reshape(1, 1, -1), matrix.data)
    matrix.factorise()
    assert matrix.lost == 0
    b = rng.normal(size=n)
    assert whole @ matrix.solve(b) == pytest.approx(b, abs=1e-7)
    assert matrix.negative == np.count_nonzero(np.linalg.eigvalsh(whole) < 0)


@pytest.mark.parametrize("kind", ["sparse-symmetric", "sparse-general"])
def test_a_factor_is_renewed_after_a_singular_matrix_was_met(
    kind: str, rng: np.random.Generator
) -> None:
    """The pattern and ordering of the first factor serve all later ones, whatever came between."""
    matrix = KINDS[kind]()
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
            continue
        matrix.factorise()
        if "symmetric" in kind:
            assert matrix.negative == np.count_nonzero(np.linalg.eigvalsh(dense(attempt)) < 0)
        assert dense(attempt) @ matrix.solve(b) == pytest.approx(b, abs=1e-8)


def test_a_right_hand_side_that_is_not_finite_has_no_finite_solution() -> None:
    matrix = Sparse(N, PAIRS)
    fill(matrix, element_blocks(False))
    matrix.factorise()
    assert np.isnan(matrix.solve(np.full(N, np.inf))).all()


# -- choice and cost ------------------------------------------------------------------------------


def test_narrow_chains_are_banded() -> None:
    index = unknowns(chain(60, -1, 0))
    matrix = make_matrix(index.max() + 1, pairs_of(index), np.zeros(0, dtype=int), 0, True)
    assert isinstance(matrix, BandedSymmetric)
    assert matrix.bandwidth == 3 * POSE - 1


def test_a_full_matrix_is_a_band() -> None:
    index = np.arange(60)[None]
    matrix = make_matrix(60, pairs_of(index), np.zeros(0, dtype=int), 0, True)
    assert isinstance(matrix, BandedSymmetric)


@pytest.mark.parametrize("arms", [3, 8, 64])
def test_stars_are_sparse_however_wide_their_band(arms: int) -> None:
    index = star(arms)
    matrix = make_matrix(index.max() + 1, pairs_of(index), np.zeros(0, dtype=int), 0, True)
    assert isinstance(matrix, Sparse)


@pytest.mark.parametrize("symmetric", [True, False])
def test_constrained_systems_are_sparse(symmetric: bool) -> None:
    index = unknowns(chain(60, -1, 0))
    n = index.max() + 1
    matrix = make_matrix(n, pairs_of(index), np.arange(n - 6, n), 6, symmetric)
    assert isinstance(matrix, Sparse)


def test_unsymmetric_chains_are_bands_and_stars_are_not() -> None:
    for index, kind in ((unknowns(chain(60, -1, 0)), Banded), (star(8), Sparse)):
        none = np.zeros(0, dtype=int)
        assert isinstance(make_matrix(index.max() + 1, pairs_of(index), none, 0, False), kind)


def banded(n: int, width: int, seed: int, dominant: float) -> tuple[Banded, np.ndarray]:
    """A random band matrix, in its storage and dense."""
    rng = np.random.default_rng(seed)
    i, j = np.indices((n, n))
    inside = np.abs(i - j) <= width
    dense = np.where(inside, rng.normal(size=(n, n)), 0.0) + dominant * np.eye(n)
    matrix = Banded(n, width)
    matrix.data[matrix.slots(i[inside], j[inside])] = dense[inside]
    return matrix, dense


@pytest.mark.parametrize(("n", "width"), [(1, 0), (5, 1), (26, 9), (40, 39), (7, 3)])
@pytest.mark.parametrize("dominant", [6.0, 0.0])
def test_band_solves_what_dense_elimination_solves(n: int, width: int, dominant: float) -> None:
    """Also without a dominant diagonal, where refinement or row exchanges have to help."""
    matrix, dense = banded(n, width, n, dominant)
    matrix.factorise()
    b = np.random.default_rng(1).normal(size=n)
    assert dense @ matrix.solve(b) == pytest.approx(b, abs=1e-8 * np.abs(b).max())


def test_band_with_a_lost_pivot_is_solved_with_row_exchanges() -> None:
    matrix, dense = banded(12, 2, 3, 0.0)
    dense[0, 0] = 0.0
    matrix.data[matrix.slots(np.zeros(1, dtype=int), np.zeros(1, dtype=int))] = 0.0
    matrix.factorise()
    b = np.ones(12)
    x = np.empty(12)
    matrix.record_solve(b, x)
    assert matrix.flags[2] == 1
    assert dense @ matrix.solve(b) == pytest.approx(b, abs=1e-10)


def test_singular_band_is_refused() -> None:
    matrix, _ = banded(8, 2, 3, 4.0)
    matrix.data[: 2 * 5] = 0.0
    matrix.factorise()
    with pytest.raises(SingularError):
        matrix.solve(np.ones(8))


def cost(index: np.ndarray) -> tuple[int, int]:
    """Entries of the factor and multiplications."""
    symbolic = Sparse(index.max() + 1, pairs_of(index), symmetric=True).elimination
    return symbolic.entries, symbolic.products


@pytest.mark.parametrize(
    "robot",
    [lambda k: unknowns(chain(16 * k, -1, 0)), star, lambda k: star(4, 8 * k)],
    ids=["longer chain", "more arms", "longer arms"],
)
def test_cost_grows_with_the_size_of_the_robot(robot: Callable[[int], np.ndarray]) -> None:
    small, large = cost(robot(4)), cost(robot(32))
    assert large[0] <= 8.5 * small[0]
    assert large[1] <= 8.5 * small[1]


def test_a_star_of_64_rods_costs_as_much_as_64_rods() -> None:
    alone = cost(unknowns(chain(8, -1, 0)))
    together = cost(star(64))
    assert together[0] <= 64 * 1.5 * alone[0]
    assert together[1] <= 64 * 2.0 * alone[1]


def test_two_mounted_rods_on_every_rod_keep_the_factor_small(rng: np.random.Generator) -> None:
    """A binary tree of 127 rods: a factor hardly larger than the matrix."""
    elements = chain(6, -1, 0)
    for k in range(1, 127):
        elements += chain(6, 6 * ((k - 1) // 2) + 5, 6 * k)
    index = unknowns(elements)
    matrix = Sparse(index.max() + 1, pairs_of(index), symmetric=True)
    assert matrix.elimination.entries <= 2.0 * len(matrix.data)
