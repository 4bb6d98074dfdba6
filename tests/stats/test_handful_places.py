"""How few questions carry the places of a board: goldens of statistics.md §26.2, and all
subsets of small boards."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.errors import StatisticsError
from warehouse.stats import handful, handful_of_places, handful_to_next


def ordered(names: list[str], values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Rows of a board in the order of their means."""
    order = np.argsort(-values.mean(axis=0), kind="stable")
    return [names[place] for place in order], values[:, order]


def test_g26_4_places_of_mmlu_pro(data_dir: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(data_dir / "mmlu_pro_matrix" / "correct.parquet")
    columns = table.drop(["question_id", "category", "src", "n_options"]).to_pydict()
    values = np.array([*columns.values()], dtype=float).T
    names, board = ordered([*columns], values)
    found = handful_of_places(board)
    assert (names[0], names[found.outside[0]]) == (
        "Meta-Llama-3-70B",
        "Meta-Llama-3_1-8B-Instruct",
    )
    assert [found.of_first[k - 1] for k in (1, 2, 3, 5)] == [608, 46, 10, 242]
    assert names[found.inside[1]] == "Meta-Llama-3_1-8B-Instruct"
    assert names[found.outside[1]] == "Yi-34B"
    assert names[found.inside[4]] == "Mixtral-8x7B-v0.1"
    assert names[found.outside[4]] == "Llama-2-70b-hf"


def test_g26_4_a_first_place_of_math_500_is_shared(data_dir: Path) -> None:
    path = data_dir / "math500_matrix" / "Y_MATH-500.csv"
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split(",") for line in lines]
    values = np.array([[float(cell) > 0 for cell in row[1:]] for row in rows]).T
    names, board = ordered([row[0] for row in rows], values.astype(float))
    found = handful_of_places(board)
    assert found.of_first[0] == found.to_next[0] == 0
    assert all("Qwen3_30B_A3B_Instruct_2507" in name for name in names[:2])


def without(board: np.ndarray, row: int, other: int) -> int | None:
    """Fewest questions without which ``other`` leads ``row``, of all subsets."""
    n = len(board)
    for k in range(n):
        for kept in combinations(range(n), n - k):
            own, rival = board[list(kept), row], board[list(kept), other]
            both = ~np.isnan(own - rival)
            if (own - rival)[both].sum() < -1e-9:
                return k
    return None


cells = st.sampled_from([0.0, 0.25, 1.0, float("nan")])


@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=2, max_size=6))
def test_no_fewer_questions_change_a_place(rows: list[list[float]]) -> None:
    board = np.array(rows)
    found = handful_of_places(board)
    assert found.to_next == handful_to_next(board)
    for row, count in enumerate(found.to_next):
        differences = board[:, row] - board[:, row + 1]
        if np.isnan(differences).all():
            assert count is None
        elif np.nansum(differences) > 0:
            assert count == without(board, row, row + 1)
        else:
            assert count == 0
    of_two = [handful_to_next(board[:, [row, 2]])[0] for row in (0, 1)]
    known = [count for count in of_two if count is not None]
    assert found.of_first[1] == min(known, default=None)


def test_single_verdicts_are_counted_as_any_others() -> None:
    board = np.random.default_rng(3).integers(0, 2, (40, 5)).astype(float)
    board = board[:, np.argsort(-board.mean(axis=0))]
    for row, count in enumerate(handful_to_next(board)):
        slowly = handful(3 * board[:, row] - 3 * board[:, row + 1])
        assert count == slowly.count
    assert handful_of_places(board).to_next == handful_to_next(board)


def test_what_is_no_board_is_refused() -> None:
    with pytest.raises(StatisticsError, match="two rows"):
        handful_of_places([[1.0], [0.0]])
    with pytest.raises(StatisticsError, match="infinite"):
        handful_to_next([[1.0, float("inf")]])
