"""The figure of the first of a leaderboard, corrected for having been picked: of a store,
by the command and the method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.winner.answer import winner
from warehouse.errors import MisuseError
from warehouse.stats import interval_wilson, winners_luck
from warehouse.store.connection import Store

N = 120
RNG = np.random.default_rng(11)
#: Verdicts of five models that are alike, and of one far ahead.
ALIKE = (RNG.random((N, 5)) < 0.5).astype(float)
AHEAD = np.ones(N)
AHEAD[:6] = 0
LOSSES = RNG.normal(2, 0.5, (N, 4))


def build() -> StoreRows:
    """Models that are alike; the same with one ahead; losses; two that are equal."""
    rows = StoreRows()
    metric = rows.metric()
    loss = rows.metric("loss")
    keys = [f"q{place:03}" for place in range(N)]

    def score(benchmark: str, columns: np.ndarray, of: int | None = None) -> None:
        for number, values in enumerate(columns.T):
            named = dict(zip(keys, values.tolist(), strict=True))
            run = rows.run(f"lab/m{number}", benchmark)
            if of is None:
                rows.scores(run, named)
            else:
                rows.scores(run, named, of)

    for benchmark in ("alike", "clear", "equal", "alone"):
        rows.describe(benchmark, metric)
    score("alike", ALIKE)
    members = {f"t{start}": keys[start : start + 6] for start in range(0, N, 6)}
    rows.clusters("alike", members, default=False)
    score("clear", np.column_stack([ALIKE, AHEAD]))
    score("equal", np.column_stack([ALIKE[:, 0], 1 - ALIKE[:, 0], 1 - ALIKE[:, 0]]))
    score("alone", ALIKE[:, :1])
    rows.describe("loss", loss, kind="continuous", high=None, higher=False)
    score("loss", LOSSES, loss)
    return rows


ROWS = build()


def test_it_is_that_of_the_scores(world: Store) -> None:
    (row,) = winner(world, benchmark="alike").rows
    board = leaderboard(world, benchmark="alike").rows
    order = [int(shown.model.removeprefix("lab/m")) for shown in board]
    luck = winners_luck(ALIKE[:, order])
    assert (row.model, row.n_rows, row.n_tied) == (board[0].model, 5, 1)
    assert (row.estimate, row.luck) == pytest.approx((luck.mean, luck.luck))
    assert row.is_corrected and row.corrected == pytest.approx(luck.corrected)
    own = interval_wilson(ALIKE[:, order[0]].sum(), N)
    assert (row.ci_low, row.ci_high) == pytest.approx((own.low, own.high))
    assert row.corrected_low == pytest.approx(own.low - luck.luck)
    assert row.corrected_high == row.ci_high
    assert row.simultaneous_low is not None
    assert row.simultaneous_low < row.ci_low
    clustered = winner(world, benchmark="alike", cluster="topic").rows[0]
    codes = np.arange(N) // 6
    assert clustered.luck == pytest.approx(winners_luck(ALIKE[:, order], codes).luck)
    assert clustered.n_clusters == 20


def test_who_is_clearly_ahead_is_not_corrected(world: Store) -> None:
    (row,) = winner(world, benchmark="clear").rows
    assert (row.model, row.is_corrected, row.n_rows) == ("lab/m5", False, 6)
    assert (row.corrected, row.corrected_low) == (row.estimate, row.ci_low)


def test_equal_figures_are_all_named(world: Store) -> None:
    rows = winner(world, benchmark="equal").rows
    higher = 1 if ALIKE[:, 0].mean() < 0.5 else 0
    assert [row.n_tied for row in rows] == [2, 2] if higher else [1]
    assert len({row.luck for row in rows}) == 1


def test_lower_is_better_is_mirrored(world: Store) -> None:
    (row,) = winner(world, benchmark="loss").rows
    means = LOSSES.mean(axis=0)
    assert row.estimate == pytest.approx(means.min())
    assert row.corrected > row.estimate and row.luck > 0
    assert row.corrected_low == row.ci_low
    assert row.corrected_high == pytest.approx((row.ci_high or 0) + row.luck)


def test_the_command_says_it(run: Caller, url: str) -> None:
    said = run("leaderboard", "alike", "--winner", db=url).out
    assert max(map(len, said.splitlines())) <= 80
    line = " ".join(said.split())
    assert "First of 5 is lab/m" in line
    assert "; corrected for having been picked " in line
    assert "as measured" in said and "what the first of such rows gains" in line
    clear = " ".join(run("leaderboard", "clear", "--winner", db=url).out.split())
    assert "by a clear margin: no correction" in clear
    told = run("leaderboard", "alike", "--winner", "-v", db=url).out
    assert "whichever row is first" in told and "draws" in told
    (row,) = run("leaderboard", "alike", "--winner", "--json", db=url).rows
    assert row["n_rows"] == 5 and row["is_corrected"] is True


def test_what_it_cannot_say_is_refused(run: Caller, url: str) -> None:
    board = ("leaderboard", "alike", "--winner")
    run(*board, "--method", "t", db=url).fails(2, "--method changes nothing")
    run(*board, "--handful", db=url).fails(2, "--winner is another question")
    run(*board, "--top", "3", db=url).fails(2, "--top changes nothing")
    run("leaderboard", "--winner", db=url).fails(2, "--winner is of one benchmark")
    run("leaderboard", "alone", "--winner", db=url).fails(2, "two are needed")


def test_the_method_says_the_same(url: str) -> None:
    store = warehouse.connect(url)
    found = store.winner("alike")
    assert "corrected for having been picked" in " ".join(str(found).split())
    assert store.winner("alike").rows == found.rows
    with pytest.raises(MisuseError, match="no benchmark"):
        store.winner("alikes")


@pytest.mark.rare
def test_g28_2_of_a_store(data_dir: Path, tmp_path: Path) -> None:
    mapping = Path(__file__).parents[3] / "docs" / "mappings" / "mmlu_pro_matrix.toml"
    store = warehouse.connect(tmp_path / "store.duckdb")
    store.ingest(data_dir / "mmlu_pro_matrix", mapping=mapping)
    (clear,) = store.winner("mmlu_pro_7").rows
    assert (clear.n_rows, clear.luck, clear.is_corrected) == (17, 0.0, False)
    (row,) = store.winner("mmlu_pro_7", where=["model!=Meta-Llama-3-70B"]).rows
    assert row.model == "Meta-Llama-3_1-8B-Instruct"
    assert row.luck == pytest.approx(0.00238, abs=0.0003)
    ends = (row.corrected_low, row.corrected_high)
    assert ends == pytest.approx((0.42350, 0.44939), abs=0.0003)
