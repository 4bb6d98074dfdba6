"""Suites: matched conditions, weights, covariances of what leaves share, ranks and
tests."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from warehouse import connect
from warehouse.analysis.leaderboard.answer import leaderboard
from warehouse.analysis.suites.answer import SuiteBoard, suite_leaderboard
from warehouse.analysis.suites.row import SuiteRow
from warehouse.analysis.suites.tree import Suite, find_suite, is_suite
from warehouse.errors import MisuseError, StatisticsError
from warehouse.stats import estimate_mean, paired_difference
from warehouse.store.connection import Store

SKILL = {"org/best": 0.92, "org/good": 0.7, "org/alike": 0.7, "org/weak": 0.2}


def build_rows() -> StoreRows:
    rows = StoreRows()
    for part in (_exam, _talk, _twins, _mixed, _settings, _told, _far):
        part(rows, random.Random(part.__name__))
    return rows


def _answers(dice: random.Random, skill: float, keys: list[str]) -> dict[str, float]:
    return {key: float(dice.random() < skill) for key in keys}


def _exam(rows: StoreRows, dice: random.Random) -> None:
    """A suite of two scenarios, one with two parts; a model lacks a part, one has a
    subset."""
    rows.benchmark("exam/maths", "exam")
    sizes = {"exam/maths/sums": 80, "exam/maths/proofs": 40, "exam/reading": 20}
    rows.benchmark("exam/unused", "exam")
    for leaf, size in sizes.items():
        rows.benchmark(leaf, "exam/maths" if "maths" in leaf else "exam")
        rows.describe(leaf, rows.metric())
        keys = [f"{leaf}{place}" for place in range(size)]
        for model, skill in SKILL.items():
            run = rows.run(model, leaf, fewshot=5, n_benchmark=size)
            rows.scores(run, _answers(dice, skill, keys))
        if leaf != "exam/reading":
            run = rows.run("org/lacks", leaf, fewshot=5, n_benchmark=size)
            rows.scores(run, dict.fromkeys(keys, 1.0))
        short = keys[:10] if leaf == "exam/reading" else keys
        run = rows.run("org/short", leaf, fewshot=5, n_benchmark=size)
        rows.scores(run, _answers(dice, 0.6, short))


def _talk(rows: StoreRows, dice: random.Random) -> None:
    """Two leaves on the same dialogues, clustered by them; scores that go together."""
    moods = {f"d{place}": dice.random() for place in range(12)}
    for leaf in ("talk/belief", "talk/desire"):
        rows.benchmark(leaf, "talk")
        rows.describe(leaf, rows.metric())
        members = {
            label: [f"{leaf}-{label}-{turn}" for turn in range(3)] for label in moods
        }
        rows.clusters(leaf, members, name="dialogue")
        for model, skill in (("org/a", 0.2), ("org/b", -0.2)):
            scores = {
                key: float(dice.random() < moods[label] + skill)
                for label, keys in members.items()
                for key in keys
            }
            rows.scores(rows.run(model, leaf), scores)


def _twins(rows: StoreRows, dice: random.Random) -> None:
    """Two leaves with the same prompts, linked; models answer both alike."""
    for leaf in ("twins/one", "twins/two"):
        rows.benchmark(leaf, "twins")
        rows.describe(leaf, rows.metric())
    keys = [f"t{place}" for place in range(30)]
    for key in keys:
        link = {
            "prompt_id": rows.prompt("twins/two", key),
            "method": "same text",
            "canonical_prompt_id": rows.prompt("twins/one", key),
        }
        rows.add("prompt_link", (key,), **link)
    for model in ("org/a", "org/b"):
        scores = _answers(dice, 0.5, keys)
        for leaf in ("twins/one", "twins/two"):
            rows.scores(rows.run(model, leaf), scores)


def _mixed(rows: StoreRows, dice: random.Random) -> None:
    """Leaves on different scales, and a lower-is-better one."""
    kinds = {
        "mixed/share": (1.0, True),
        "mixed/percent": (100.0, True),
        "mixed/loss": (1.0, False),
    }
    for leaf, (high, higher) in kinds.items():
        rows.benchmark(leaf, "mixed")
        metric = rows.metric("points" if high > 1 else "loss" if not higher else "acc")
        rows.describe(leaf, metric, kind="bounded", high=high, higher=higher)
        for model in ("org/a", "org/b"):
            scores = {f"{leaf}{i}": high * dice.random() for i in range(10)}
            rows.scores(rows.run(model, leaf), scores, metric)


def _settings(rows: StoreRows, dice: random.Random) -> None:
    """Two temperatures on both leaves; another model with two conditions that look
    alike."""
    for leaf in ("set/x", "set/y"):
        rows.benchmark(leaf, "set")
        rows.describe(leaf, rows.metric())
        keys = [f"{leaf}{place}" for place in range(15)]
        for number, temperature in enumerate((0.0, 0.8)):
            run = rows.run("org/a", leaf, temperature=temperature, run_key=f"a{number}")
            rows.scores(run, _answers(dice, 0.5, keys))
    for number in range(2):
        run = rows.run("org/twice", "set/x", n_requested=10 + number)
        rows.scores(run, {f"set/x{place}": 1.0 for place in range(15)})


def _told(rows: StoreRows, dice: random.Random) -> None:
    """Published figures alone, with and without errors; and one for the suite."""
    metric = rows.metric()
    for leaf in ("told/p", "told/q"):
        rows.benchmark(leaf, "told")
        rows.describe(leaf, metric)
    for model, group, error in (("org/a", "ga", 0.03), ("org/b", "gb", None)):
        for leaf, value in (("told/p", 0.5), ("told/q", 0.7)):
            run = rows.run(model, leaf, group=group)
            rows.published(
                run,
                value,
                metric,
                benchmark=leaf,
                standard_error=error,
                n=100,
                group=group,
            )
        rows.published(
            None, 0.61, metric, benchmark="told", standard_error=error, group=group
        )


def _far(rows: StoreRows, dice: random.Random) -> None:
    """A suite of 200 prompts on which two models are apart, and 5 that both have right."""
    for leaf, size in (("far/many", 200), ("far/few", 5)):
        rows.benchmark(leaf, "far")
        rows.describe(leaf, rows.metric())
        for model, wrong in (("org/a", 10), ("org/b", 40)):
            rows.scores(
                rows.run(model, leaf),
                {f"{leaf}{i}": float(size == 5 or i >= wrong) for i in range(size)},
            )


ROWS = build_rows()


def row_of(board: SuiteBoard, model: str, condition: str = "") -> SuiteRow:
    (row,) = [r for r in board.rows if r.model == model and condition in r.condition]
    return row


def values_of(model: str, leaf: str, condition: str = "") -> dict[str, float]:
    """Scores of a model by prompt key, from the rows themselves."""
    found: dict[str, float] = {}
    for fact in ROWS.rows["prompt_score"]:
        header = ROWS.rows["run"][fact["run_id"] - 1]
        checkpoint = ROWS.rows["checkpoint"][header["checkpoint_id"] - 1]
        seed = ROWS.rows["training_seed"][checkpoint["training_seed_id"] - 1]
        same = ROWS.rows["model"][seed["model_id"] - 1]["name"] == model
        if same and header["benchmark_id"] == ROWS.benchmark(leaf):
            found[ROWS.rows["prompt"][fact["prompt_id"] - 1]["key"]] = fact["value"]
    return found


def names_of(suite: Suite) -> list[str]:
    return [leaf.name for leaf in suite.leaves]


LEAVES = ["exam/maths/proofs", "exam/maths/sums", "exam/reading"]


def test_a_suite_is_the_leaves_below_it_at_any_depth(world: Store) -> None:
    found = find_suite(world, "exam")
    assert (names_of(found), found.empty) == (LEAVES, ("exam/unused",))
    assert names_of(find_suite(world, "exam/maths")) == LEAVES[:2]
    listed = find_suite(world, "exam/reading, talk")
    assert names_of(listed) == ["exam/reading", "talk/belief", "talk/desire"]
    assert names_of(find_suite(world, "exam/maths/*,set/?")) == [
        *LEAVES[:2],
        "set/x",
        "set/y",
    ]
    assert is_suite(world, "exam") and not is_suite(world, "exam/reading")
    assert not is_suite(world, "nothing")


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        ("equal", [1 / 3, 1 / 3, 1 / 3]),
        ("prompts", [40 / 140, 80 / 140, 20 / 140]),
        (dict(zip(LEAVES, (1.0, 3.0, 4.0), strict=True)), [0.125, 0.375, 0.5]),
    ],
)
def test_leaves_are_weighted_as_said(
    world: Store, weights: object, shares: list[float]
) -> None:
    board = suite_leaderboard(world, "exam", weights=weights)  # type: ignore[arg-type]
    assert [leaf.weight for leaf in board.leaves] == pytest.approx(shares)
    assert [leaf.n_prompts for leaf in board.leaves] == [40, 80, 20]
    row = row_of(board, "org/good")
    alone = [
        estimate_mean(list(values_of("org/good", leaf).values()), bounds=(0, 1))
        for leaf in LEAVES
    ]
    figure = sum(w * one.estimate for w, one in zip(shares, alone, strict=True))
    variance = sum(
        (w * (one.se_clt or 0)) ** 2 for w, one in zip(shares, alone, strict=True)
    )
    assert row.estimate == pytest.approx(figure, rel=1e-12)
    assert row.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10)
    assert row.se_independent == pytest.approx(row.standard_error, rel=1e-10)
    assert row.leaf_estimates == pytest.approx([one.estimate for one in alone])
    assert (row.n_prompts, row.n_draws, row.method) == (140, 140, "wilson_bounded")


def test_by_prompts_the_figure_is_the_mean_of_all_prompts(world: Store) -> None:
    row = row_of(suite_leaderboard(world, "exam", weights="prompts"), "org/weak")
    every = [value for leaf in LEAVES for value in values_of("org/weak", leaf).values()]
    assert row.estimate == pytest.approx(np.mean(every), rel=1e-12)


def test_leaf_figures_are_those_of_the_leaderboards(world: Store) -> None:
    board = suite_leaderboard(world, "exam")
    for place, leaf in enumerate(LEAVES):
        single = {row.model: row.estimate for row in leaderboard(world, leaf).rows}
        for row in board.rows:
            assert row.leaf_estimates[place] == pytest.approx(single.get(row.model))


def test_rows_without_all_leaves_are_shown_and_not_ranked(world: Store) -> None:
    board = suite_leaderboard(world, "exam")
    lacks, short = row_of(board, "org/lacks"), row_of(board, "org/short")
    assert (lacks.rank, lacks.n_missing, lacks.n_leaves) == (None, 1, 2)
    assert lacks.leaf_estimates == (1.0, 1.0, None)
    assert "missing_leaves" in lacks.flags and lacks.statistical_rank is None
    assert short.rank is None and "subset" in short.flags
    assert [row.rank for row in board.rows] == [1, 2, 3, 4, None, None]
    assert any("partial_ok" in note for note in board.notes)
    assert any("subset_ok" in note for note in board.notes)
    assert any("no runs on exam/unused" in note for note in board.notes)
    loose = suite_leaderboard(world, "exam", partial_ok=True, subset_ok=True)
    assert row_of(loose, "org/lacks").rank == 1
    assert row_of(loose, "org/lacks").statistical_rank is None
    assert row_of(loose, "org/short").statistical_rank is not None


def test_a_benchmark_on_which_models_do_not_differ_does_not_settle_their_ranks(
    world: Store,
) -> None:
    """Apart on 200 prompts: that 5 others are right twice proves nothing of the
    benchmark that they stand for."""
    board = suite_leaderboard(world, "far")
    assert {row.statistical_rank for row in board.rows} == {1}


def test_statistical_ranks_come_from_paired_tests_over_the_suite(world: Store) -> None:
    board = suite_leaderboard(world, "exam")
    ranks = {row.model: (row.statistical_rank, row.group) for row in board.rows}
    assert ranks["org/best"] == (1, "a") and ranks["org/weak"] == (4, "c")
    assert ranks["org/good"] == ranks["org/alike"] == (2, "b")
    single = suite_leaderboard(world, "exam/reading,exam/maths/sums", weights="prompts")
    assert {leaf.name for leaf in single.leaves} == {"exam/reading", "exam/maths/sums"}


def test_leaves_on_the_same_documents_are_paired_by_them(world: Store) -> None:
    row = row_of(suite_leaderboard(world, "talk"), "org/a")
    assert "shared_units" in row.flags and row.n_clusters == 12
    means = np.zeros(12)
    for leaf in ("talk/belief", "talk/desire"):
        values = values_of("org/a", leaf)
        for place in range(12):
            members = [v for key, v in values.items() if f"-d{place}-" in key]
            means[place] += np.mean(members) / 2
    expected = estimate_mean(
        means, bounds=(0, 1), binary=False
    )  # equal sizes: means of dialogues
    assert row.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert row.standard_error == pytest.approx(expected.se_clt, rel=1e-10)
    assert row.degrees_of_freedom == pytest.approx(11, rel=1e-10)
    assert row.standard_error != pytest.approx(row.se_independent, rel=1e-3)
    alone = row_of(suite_leaderboard(world, "talk", cluster="none"), "org/a")
    assert (alone.n_clusters, "shared_units" in alone.flags) == (None, False)


def test_linked_prompts_are_one_unit(world: Store) -> None:
    board = suite_leaderboard(world, "twins")
    row = row_of(board, "org/a")
    values = list(values_of("org/a", "twins/one").values())
    assert row.standard_error == pytest.approx(estimate_mean(values).se_clt, rel=1e-10)
    assert row.degrees_of_freedom == pytest.approx(29, rel=1e-10)
    assert any("covariances" in note for note in board.notes)
    both = [values_of(model, "twins/one") for model in ("org/a", "org/b")]
    pair = paired_difference(list(both[0].values()), list(both[1].values()))
    tested = pair.p_value is not None and pair.p_value < 0.05
    assert (max(r.statistical_rank or 0 for r in board.rows) == 2) == tested


def test_scales_are_not_mixed_by_mistake(world: Store) -> None:
    with pytest.raises(MisuseError, match="different scales") as refused:
        suite_leaderboard(world, "mixed")
    for part in (
        "mixed/loss: loss, 0 to 1, lower is better",
        "mixed/percent: points, 0 to 100",
    ):
        assert part in str(refused.value)
    forced = suite_leaderboard(world, "mixed", force=True)
    assert forced.rows[0].method == "t_hull" and forced.higher_is_better is None
    assert any("not known whether higher is better" in note for note in forced.notes)
    chosen = {"mixed/share": 1.0, "mixed/percent": 0.0, "mixed/loss": 0.0}
    alone = suite_leaderboard(world, "mixed", weights=chosen)
    assert [leaf.name for leaf in alone.leaves] == ["mixed/share"]
    assert any("weight 0: mixed/loss, mixed/percent" in note for note in alone.notes)


def test_lower_may_be_better(world: Store) -> None:
    weights = {"mixed/share": 0.0, "mixed/percent": 0.0, "mixed/loss": 1.0}
    board = suite_leaderboard(world, "mixed", weights=weights)
    figures = [row.estimate for row in board.rows]
    assert board.higher_is_better is False and figures == sorted(figures)  # type: ignore[type-var]


def test_settings_that_vary_make_rows_of_their_own(world: Store) -> None:
    board = suite_leaderboard(world, "set", where=["model=org/a"])
    assert [row.condition for row in board.rows].count("temperature=0.8") == 1
    assert all(row.n_missing == 0 and len(row.run_ids) == 2 for row in board.rows)
    latest = suite_leaderboard(world, "set", where=["model=org/a"], latest=True)
    assert [row.condition for row in latest.rows] == ["temperature=0.8"]


def test_all_that_is_ambiguous_is_listed(world: Store) -> None:
    with pytest.raises(MisuseError, match="several conditions of one model") as refused:
        suite_leaderboard(world, "set")
    assert "org/twice on set/x: run:" in str(refused.value)
    assert "--latest" in str(refused.value)
    board = suite_leaderboard(world, "set", latest=True)
    assert row_of(board, "org/twice").n_missing == 1


def test_published_figures_are_put_together(world: Store) -> None:
    board = suite_leaderboard(world, "told")
    a, b = row_of(board, "org/a"), row_of(board, "org/b")
    assert (a.estimate, a.standard_error) == pytest.approx((0.6, 0.03 / math.sqrt(2)))
    assert (a.method, a.published, a.published_se) == ("normal", 0.61, 0.03)
    assert (b.standard_error, b.ci_low, b.published) == (None, None, 0.61)
    assert b.reason == "2 of 2 benchmarks have no standard error"
    assert "published" in a.flags and (a.rank, b.rank) == (1, 1)


BAD = [
    ("nothing", {}, "no suite is called 'nothing'"),
    ("exam/reading", {}, "is no suite but a single benchmark"),
    ("exam/unused,exam/unused", {}, "has no runs"),
    ("zzz*", {}, "no benchmark fits 'zzz"),
    (" , ", {}, "names no benchmark"),
    ("exam", {"weights": "size"}, "expected equal, prompts"),
    ("exam", {"weights": {"exam/reading": 1.0}}, "no weight for exam/maths/proofs"),
    (
        "exam",
        {"weights": {"else": 1.0}},
        "weights for else, which the suite does not have",
    ),
    ("twins", {"weights": {"twins/one": -1.0, "twins/two": 1.0}}, "at least 0"),
    ("twins", {"weights": {"twins/one": 0.0, "twins/two": 0.0}}, "not all 0"),
    ("twins", {"weights": {"twins/one": math.nan, "twins/two": 1.0}}, "at least 0"),
    ("mixed", {"metric": "points"}, "--force leaves these benchmarks out"),
    ("exam", {"metric": "nope"}, "no metric 'nope'"),
    ("exam", {"where": ["fewshot=99"]}, "no current run with fewshot=99"),
    ("talk", {"cluster": "nope"}, "no clustering 'nope'"),
]


@pytest.mark.parametrize(("group", "options", "message"), BAD)
def test_what_cannot_be_meant_is_refused(
    world: Store, group: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(MisuseError, match=message):
        suite_leaderboard(world, group, **options)  # type: ignore[arg-type]


def test_a_level_out_of_range_is_refused(world: Store) -> None:
    with pytest.raises(StatisticsError, match="level must be in"):
        suite_leaderboard(world, "exam", level=1.0)


# --- command line and Python -----------------------------------------------------------------


def test_a_suite_for_programs_is_the_librarys(run: Caller, url: str) -> None:
    rows = run(
        "leaderboard", "--group", "exam", "--weights", "prompts", "--json", db=url
    ).rows
    board = connect(url, create=False).leaderboard(group="exam", weights="prompts")
    assert rows == [row.to_dict() for row in board.rows]
    assert list(rows[0]) == list(SuiteRow.columns())
    assert list(board.to_frame()["model"]) == [row["model"] for row in rows]
    assert board.to_dict()["weights"] == "prompts"
    assert board.one_line.startswith("exam over 3 benchmarks: 6 rows, first org/best")


def test_a_suite_for_people(run: Caller, url: str) -> None:
    found = run("leaderboard", "exam", db=url)  # the name of a suite is enough
    assert found.out.startswith(
        "exam · acc, higher is better · mean of 3 benchmarks, each the same weight · "
        "140 questions\norg/best leads with 95.0 %"
    )
    assert "place  model             score  95% interval" in found.out
    assert "org/best   95.0 % (1.8)" in found.out
    assert (
        "note: 1 row lacks benchmarks: not ranked (--partial ranks them)" in found.err
    )
    detailed = run("-v", "leaderboard", "exam", db=url)
    assert "exam/maths/sums" in detailed.out and "Holm over all pairs" in detailed.out


def test_weights_may_stand_in_a_file(run: Caller, url: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.txt"
    file.write_text("# by hand\ntwins/one=3\ntwins/two = 1\n")
    found = run("leaderboard", "--group", "twins", "--weights", str(file), db=url)
    assert "weighted twins/one 0.75, twins/two 0.25" in found.out, found.err
    same = run(
        "leaderboard",
        "--group",
        "twins",
        "--weights",
        "twins/one=3,twins/two=1",
        db=url,
    )
    assert same.out == found.out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("exam", "--group", "exam"), "not both"),
        (("exam/reading", "--weights", "equal"), "--weights is for suites"),
        (
            ("--group", "exam", "--method", "t"),
            "--method is for benchmarks, and exam is a suite",
        ),
        (
            ("exam", "--max-unscored", "0.5"),
            "--max-unscored is for benchmarks, and exam is a suite",
        ),
        (("--group", "exam", "--weights", "much"), "no file"),
        (("--group", "exam", "--weights", "exam/reading=x"), "is not NAME=WEIGHT"),
        (("--group", "twins", "--weights", "twins/one=1,twins/one=2"), "twice"),
        (("--group", "exam/reading"), "no suite but a single benchmark"),
    ],
)
def test_misuse_is_told(
    run: Caller, url: str, words: tuple[str, ...], part: str
) -> None:
    run("leaderboard", *words, db=url).fails(2, part)


def test_python_takes_a_benchmark_or_a_group(url: str) -> None:
    with pytest.raises(MisuseError, match="a benchmark, or the group"):
        connect(url, create=False).leaderboard("exam", group="exam")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"benchmark": "exam/reading", "force": True}, "force is for suites"),
        ({"benchmark": "exam/reading", "weights": "prompts"}, "weights is for suites"),
        (
            {"group": "exam", "method": "wilson"},
            "method is for benchmarks, and exam is a suite",
        ),
        (
            {"benchmark": "exam", "method": "wilson"},
            "method is for benchmarks, and exam is a suite",
        ),
        ({"benchmark": "exam", "max_unscored": 0.5}, "max_unscored is for benchmarks"),
        ({"benchmark": "exam", "seed": 1}, "seed is for benchmarks"),
    ],
)
def test_python_refuses_what_is_for_the_other_kind(
    url: str, asked: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(MisuseError, match=message):
        connect(url, create=False).leaderboard(**asked)
