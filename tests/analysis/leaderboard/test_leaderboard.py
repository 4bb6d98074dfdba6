"""The leaderboard: figures equal to pooled draws, ranks among what can be compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.world import the_world
from warehouse.analysis.leaderboard.answer import Leaderboard, leaderboard
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.view import describe_basis
from warehouse.analysis.pairs.answer import pairs
from warehouse.analysis.selection.benchmarks import choose_metrics
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import estimate_mean
from warehouse.store.connection import Store
from warehouse.store.open import open_store

ROWS = the_world()
MAPPING = """
[run]
model = "model"
benchmark = { const = "b" }

[sample]
prompt_id = "item"

[[scores]]
metric = "loss"
value = "loss"

[metrics.loss]
kind = "continuous"
higher_is_better = false
"""


def row_of(board: Leaderboard, model: str, condition: str = "") -> LeaderboardRow:
    (row,) = [r for r in board.rows if r.model == model and condition in r.condition]
    return row


def draws_of(run_ids: tuple[int, ...], metric: int) -> dict[int, list[float]]:
    """All headline draws of some runs by prompt, from the rows of `score`."""
    pooled: dict[int, list[float]] = {}
    for fact in ROWS.rows["score"]:
        wanted = fact["run_id"] in run_ids and fact["metric_id"] == metric
        if (
            wanted
            and fact["variant_id"] == ROWS.variant()
            and fact["value"] is not None
        ):
            pooled.setdefault(fact["prompt_id"], []).append(fact["value"])
    return pooled


def test_repeats_are_pooled_as_draws(world: Store) -> None:
    row = row_of(leaderboard(world, "quiz"), "org/b")
    pooled = draws_of(row.run_ids, ROWS.metric())
    expected = estimate_mean(
        [float(np.mean(values)) for values in pooled.values()], n_draws=6, bounds=(0, 1)
    )
    assert (row.runs, row.n_draws, row.n_prompts) == (2, 240, 40)
    assert row.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert row.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
    assert (row.ci_low, row.ci_high) == pytest.approx(
        (expected.ci_low, expected.ci_high)
    )
    assert row.method == expected.method


def test_single_draws_are_binary_and_clustered_by_default(world: Store) -> None:
    row = row_of(leaderboard(world, "golden"), "org/a")
    assert (row.n_clusters, row.method) == (4, "clopper_pearson_effective")
    assert row.standard_error == pytest.approx(0.220389266008)
    assert row.se_naive == pytest.approx(0.163299316186)
    assert row.design_effect == pytest.approx((0.220389266008 / 0.163299316186) ** 2)
    assert "few_informative_clusters" in row.flags


@pytest.mark.parametrize(
    ("cluster", "n_clusters", "method"),
    [
        ("none", None, "wilson"),
        ("topic", 4, "clopper_pearson_effective"),
        ("coarse", 5, "clopper_pearson_effective"),  # 6 in one, 4 on their own
    ],
)
def test_the_clustering_can_be_chosen(
    world: Store, cluster: str, n_clusters: int | None, method: str
) -> None:
    row = row_of(leaderboard(world, "golden", cluster=cluster), "org/a")
    assert (row.n_clusters, row.method) == (n_clusters, method)


def test_prompts_of_one_text_are_a_cluster(world: Store) -> None:
    row = row_of(leaderboard(world, "seen", cluster="same_text"), "org/b")
    assert (row.n_prompts, row.n_clusters) == (3, 2)


def test_an_unknown_clustering_names_those_there_are(world: Store) -> None:
    with pytest.raises(MisuseError, match="there are: coarse, none, same_text, topic"):
        leaderboard(world, "golden", cluster="nope")


def test_ratio_metrics_show_their_figure_and_the_lowest_first(world: Store) -> None:
    board = leaderboard(world, "words")
    assert board.metric == "word_perplexity"
    assert [row.rank for row in board.rows] == [1, 2]
    assert board.rows[0].estimate < board.rows[1].estimate
    facts = [
        f for f in ROWS.rows["prompt_score"] if f["run_id"] == board.rows[0].run_ids[0]
    ]
    facts = [
        f
        for f in facts
        if f["metric_id"] == ROWS.metric("word_perplexity", link="exp_neg")
    ]
    mean = np.average([f["value"] for f in facts], weights=[f["weight"] for f in facts])
    assert board.rows[0].estimate == pytest.approx(np.exp(-mean))


def test_incomplete_rows_are_marked_and_not_ranked_beside_complete_ones(
    world: Store,
) -> None:
    board = leaderboard(world, "quiz")
    short = row_of(board, "org/e")
    assert (short.rank, short.flags[:2]) == (None, ("truncated", "subset"))
    assert sorted(row.rank for row in board.rows if row.rank) == list(range(1, 8))
    assert "not ranked" in board.notes[0]
    ranked = row_of(leaderboard(world, "quiz", subset_ok=True), "org/e")
    assert ranked.rank == 3


def test_rows_that_saw_other_prompts_are_marked(world: Store) -> None:
    board = leaderboard(world, "quiz")
    assert [row.model for row in board.rows if "other_prompts" in row.flags] == [
        "org/g"
    ]
    assert any("saw other prompts" in note for note in board.notes)


def test_unscored_samples_are_told(world: Store) -> None:
    row = row_of(leaderboard(world, "quiz"), "org/d")
    assert (row.n_unscored, row.share_unscored, row.n_prompts) == (48, 0.6, 32)
    assert "unscored" in row.flags
    nothing = row_of(leaderboard(world, "edges"), "edge/2")
    assert (nothing.estimate, nothing.rank, nothing.reason) == (
        None,
        None,
        "no prompt was scored",
    )


def test_ties_share_a_rank(world: Store) -> None:
    board = leaderboard(world, "suite/one")
    assert [(row.model, row.rank) for row in board.rows] == [
        ("win/a", 1),
        ("win/b", 1),
        ("win/c", 3),
    ]


def test_published_figures_stand_in_where_there_are_no_samples(world: Store) -> None:
    (one,) = leaderboard(
        world, "probe", where=["step=3000"]
    ).rows  # over its seeds, which agree
    assert (one.estimate, one.n_seeds, one.seed_means, one.flags) == (
        pytest.approx(0.92),
        3,
        (0.92,) * 3,
        ("published",),
    )
    board = leaderboard(world, "probe", where=["step=3000"], each="seed")
    flags = ("one_seed", "published")
    assert [(row.estimate, row.method, row.flags) for row in board.rows] == [
        (0.92, "published", flags)
    ] * 3
    assert board.rows[0].ci_low == pytest.approx(0.92 - 1.959963984540054 * 0.02)
    only = row_of(leaderboard(world, "told"), "told/only")
    assert (only.estimate, only.ci_low, only.n_prompts) == (0.3, None, 0)


def test_a_benchmark_whose_only_figure_is_published_as_nan_has_a_board_without_rows(
    duckdb_url: str,
) -> None:
    rows = StoreRows()
    rows.describe("wiki", rows.metric())
    rows.published(rows.run("lab/a", "wiki"), None, benchmark="wiki")
    with open_store(duckdb_url, create=True) as store:
        rows.write(store)
        assert leaderboard(store, "wiki").rows == ()


def test_judges_versions_and_splits_are_ranked_apart(world: Store) -> None:
    board = leaderboard(world, "judged")
    groups = [(row.model, row.split, row.rank) for row in board.rows if row.rank == 1]
    assert len(groups) == 4  # judge gpt, judge claude, task version 2, split test
    assert any("judge" in note for note in board.notes)
    assert row_of(board, "chat/a", "+react").rank is not None


def test_labels_tell_conditions_of_a_model_apart(world: Store) -> None:
    labels = {(r.model, r.condition) for r in leaderboard(world, "draws").rows}
    assert labels == {
        ("org/a", "temperature=0.0"),
        ("org/a", "temperature=1.0"),
        ("org/b", ""),
        ("org/c", ""),
        ("org/d", ""),
    }


def test_latest_keeps_one_condition_of_each_model(world: Store) -> None:
    board = leaderboard(world, "draws", latest=True)
    assert sorted(row.model for row in board.rows) == [
        "org/a",
        "org/b",
        "org/c",
        "org/d",
    ]


def test_a_metric_is_chosen_by_name_and_filter(world: Store) -> None:
    board = leaderboard(world, "quiz", metric="acc,strict")
    assert board.metric == "acc,strict"
    assert row_of(board, "org/c").n_draws == 40
    with pytest.raises(
        MisuseError, match="quiz has no metric 'f1'; it has: acc, acc,strict"
    ):
        leaderboard(world, "quiz", metric="f1")


@pytest.mark.parametrize("wanted", [None, "acc"])
def test_a_benchmark_without_figures_says_what_it_lacks(wanted: str | None) -> None:
    with pytest.raises(
        MisuseError, match="neither scores nor published.* --where benchmark=bare"
    ):
        choose_metrics([], wanted, "bare")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "suite",
            "'suite' is a suite; choose one of its benchmarks: suite/one, suite/two/a,",
        ),
        ("quizz", "no benchmark is called 'quizz'; did you mean quiz"),
        ("??", "no benchmark is called '??'; see: warehouse list benchmarks"),
    ],
)
def test_what_is_no_benchmark_is_said(world: Store, name: str, message: str) -> None:
    with pytest.raises(MisuseError) as caught:
        leaderboard(world, name)
    assert message in str(caught.value)


def test_nothing_left_by_the_conditions_is_said(world: Store) -> None:
    with pytest.raises(
        MisuseError, match="draws has no current run with temperature=7"
    ):
        leaderboard(world, "draws", where=["temperature=7"])


def test_a_method_that_the_data_do_not_allow_names_the_model(world: Store) -> None:
    with pytest.raises(StatisticsError, match="org/"):
        leaderboard(world, "draws", method="wilson")
    with pytest.raises(StatisticsError, match="level"):
        leaderboard(world, "draws", level=95)


def test_scores_outside_the_declared_bounds_are_flagged_not_refused(
    world: Store,
) -> None:
    rows = leaderboard(world, "suite/one").rows
    assert all("outside_bounds" in row.flags and row.method == "t" for row in rows)


def test_an_alias_of_a_benchmark_is_the_benchmark(world: Store) -> None:
    assert leaderboard(world, "quiz_2024") == leaderboard(world, "quiz")


def test_a_result_has_one_line_rows_and_a_frame(world: Store) -> None:
    board = leaderboard(world, "draws")
    assert board.one_line == "draws by acc: 5 conditions, highest org/d at 0.75"
    frame = board.to_frame()
    assert list(frame["model"]) == [row.model for row in board.rows]
    content = board.to_dict()
    assert content["rows"][0]["estimate"] == 0.75
    assert content["rows"][0]["flags"] == ["few_prompts"]


def test_prompts_that_a_clustering_leaves_out_are_flagged(world: Store) -> None:
    """Topics hold some prompts of the essays; the rest count as clusters of one."""
    row, *_ = leaderboard(world, "essay").rows
    assert row.n_clusters == 9 + 15  # nine topics of 45 prompts, 15 alone
    assert "prompts_outside_clusters" in row.flags
    whole, *_ = leaderboard(world, "golden").rows
    assert "prompts_outside_clusters" not in whole.flags


def test_skewed_scores_show_t_beside_the_hull(tmp_path: Path) -> None:
    scores = np.random.default_rng(3).exponential(size=30).round(6)
    table = "model,item,loss\n" + "".join(f"m,{i},{s}\n" for i, s in enumerate(scores))
    (tmp_path / "scores.csv").write_text(table)
    (tmp_path / "map.toml").write_text(MAPPING)
    store = warehouse.connect(str(tmp_path / "s.duckdb"))
    store.ingest(tmp_path / "scores.csv", mapping=tmp_path / "map.toml")
    board = store.leaderboard("b")
    (row,) = board.rows
    expected = estimate_mean(scores).beside
    assert expected is not None
    assert (row.method, row.beside_method, row.flags) == ("hull", "t", ("skewed",))
    ends = (expected.low, expected.high)
    assert (row.beside_ci_low, row.beside_ci_high) == pytest.approx(ends, rel=1e-9)
    assert any("m: t gives [" in line for line in describe_basis(board.rows))


def test_rows_without_a_rank_stand_after_all_that_have_one(world: Store) -> None:
    for benchmark in ("quiz", "told", "edges", "judged", "golden", "probe"):
        ranks = [row.rank is None for row in leaderboard(world, benchmark).rows]
        assert ranks == sorted(ranks)


def test_a_published_figure_is_not_ranked_beside_recomputed_ones(world: Store) -> None:
    board = leaderboard(world, "told")
    only = row_of(board, "told/only")
    assert (only.rank, only.rank_reason) == (
        None,
        "published figures have no prompts to pair",
    )
    assert any(
        "with published figures not ranked beside" in note for note in board.notes
    )
    assert (
        row_of(leaderboard(world, "told", subset_ok=True), "told/only").rank is not None
    )


def test_a_truncated_run_shows_its_published_figure_and_the_part_beside_it(
    world: Store,
) -> None:
    board = leaderboard(world, "told")
    row = row_of(board, "told/short")
    assert (row.estimate, row.n_prompts, row.rank) == (0.4, 50, None)
    assert {"truncated", "published"} <= set(row.flags)
    assert (row.part_estimate, row.part_n_prompts) == (pytest.approx(5 / 7), 7)
    assert row.part_ci_low is not None and row.unscored_low is None
    assert any("truncated runs" in note for note in board.notes)


def test_prompts_that_are_mostly_one_text_are_clustered_by_it(store_url: str) -> None:
    rows = StoreRows()
    for name, n_alike in (("alike", 49), ("mixed", 20)):
        rows.describe(name, rows.metric())
        keys = [f"{name}{place:02}" for place in range(50)]
        for place, key in enumerate(keys):
            rows.prompt(
                name, key, text="Answer." if place < n_alike else f"question {key}"
            )
        for model in ("lab/a", "lab/b"):
            run = rows.run(model, name)
            rows.scores(
                run, {key: float(place % 3 == 0) for place, key in enumerate(keys)}
            )
    with open_store(store_url, create=True) as store:
        rows.write(store)
        board = leaderboard(store, "alike")
        assert {row.n_clusters for row in board.rows} == {2}
        (note,) = (note for note in board.notes if "same text" in note)
        assert (
            "49 of 50 prompts have the same text as another, 49 of them one text"
            in note
        )
        assert any("same text" in note for note in pairs(store, "alike").notes)
        free = leaderboard(store, "alike", cluster="none")
        assert free.rows[0].n_clusters is None and not any(
            "same text" in n for n in free.notes
        )
        assert leaderboard(store, "mixed").rows[0].n_clusters is None
