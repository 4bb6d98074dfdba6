"""One row a model: over its training seeds, at its last whole checkpoint, repeats as
they look; infinite scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.cli import Caller
from warehouse import connect
from warehouse.api import Warehouse
from warehouse.errors import MisuseError
from warehouse.stats import difference_over_seeds, row_over_seeds

Runs = Mapping[Any, Iterable[float]]
Filled = Callable[..., Warehouse]


def table(fields: str, runs: Runs) -> str:
    """A table of scores.

    Args:
        fields: what tells runs apart, after the model, such as ``seed,step``.
        runs: scores of the prompts in their order, by the values of these fields, the
            model first.
    """
    names = ",".join(filter(None, ("model", fields)))
    lines = [f"{names},benchmark,prompt_id,score"]
    for values, scores in runs.items():
        lines += [
            f"{','.join(values)},quiz,q{place},{score:g}"
            for place, score in enumerate(scores)
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def filled(duckdb_url: str, tmp_path: Path) -> Filled:
    """Makes a store of tables."""

    def fill(*texts: str, **settings: str) -> Warehouse:
        store = connect(duckdb_url)
        for number, text in enumerate(texts):
            path = tmp_path / f"table{number}.csv"
            path.write_text(text)
            store.ingest(path, values=settings)
        return store

    return fill


def drawn(seeds: int, n: int, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    difficulty, skill = rng.normal(0, 1.2, n), rng.normal(shift, 0.3, (seeds, 1))
    return (rng.random((seeds, n)) < 1 / (1 + np.exp(difficulty - skill))).astype(float)


def by_seed(**models: np.ndarray) -> str:
    return table(
        "seed",
        {
            (name, str(s)): row
            for name, cells in models.items()
            for s, row in enumerate(cells)
        },
    )


def test_a_model_is_one_row_whose_figure_is_the_mean_over_its_seeds(
    filled: Filled,
) -> None:
    cells = {"ours": drawn(4, 60), "base": drawn(4, 60, 1)}
    board = filled(by_seed(**cells)).leaderboard("quiz")
    assert len(board.rows) == 2
    for row in board.rows:
        expected = row_over_seeds(cells[row.model], bounds=(0, 1))
        assert row.estimate == pytest.approx(expected.estimate)
        assert row.ci_low == pytest.approx(expected.ci_low)
        assert row.ci_high == pytest.approx(expected.ci_high)
        assert row.seed_means == pytest.approx(cells[row.model].mean(axis=1).tolist())
        assert (row.n_seeds, row.runs, row.n_prompts) == (4, 4, 60)


def test_the_best_seed_is_nobodys_score_in_any_place(
    filled: Filled, run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    lucky = table(
        "seed",
        {("A", "0"): [1, 1, 1, 1], ("A", "1"): [0, 0, 0, 0], ("B", "0"): [1, 0, 1, 0]},
    )
    store = filled(lucky)
    assert {row.model: row.estimate for row in store.leaderboard("quiz").rows} == {
        "A": 0.5,
        "B": 0.5,
    }
    assert store.compare("A", "B").rows[0].difference == pytest.approx(0)
    (card,) = store.card("A").rows
    assert card.estimate == 0.5
    run("report", "-o", str(tmp_path / "page.html"), db=duckdb_url)
    page = (tmp_path / "page.html").read_text()
    assert "best is shown" not in page and 'data-v="1.0"' not in page


def test_each_seed_and_each_checkpoint_stand_apart_where_asked_for(
    filled: Filled,
) -> None:
    runs = {
        ("m", s, step): drawn(1, 20, int(s) + int(step))[0]
        for s in "01"
        for step in ("100", "200")
    }
    store = filled(table("training_seed,step", runs))
    (row,) = store.leaderboard("quiz").rows
    last = np.array([runs["m", s, "200"] for s in "01"])
    assert row.estimate == pytest.approx(last.mean())
    assert (row.n_checkpoints, row.n_seeds) == (2, 2)
    assert len(store.leaderboard("quiz", each="seed").rows) == 2
    assert len(store.leaderboard("quiz", each="checkpoint").rows) == 4


def test_the_last_whole_checkpoint_stands_for_a_model_not_the_best(
    filled: Filled,
) -> None:
    runs = {
        ("m", "100"): [1.0] * 40,
        ("m", "200"): [0.0, 1.0] * 20,
        ("m", "300"): [1.0] * 10,
    }
    board = filled(table("step", runs)).leaderboard("quiz")
    (row,) = board.rows
    assert (row.estimate, row.n_checkpoints) == (0.5, 3)
    assert "last_partial" in row.flags
    assert any("warehouse training curves m" in note for note in board.notes)
    assert any("step 300" in note for note in board.notes)


def test_a_seed_with_a_part_is_left_out_and_named(filled: Filled) -> None:
    cells = drawn(3, 40)
    runs = {("m", str(s)): row if s else row[:10] for s, row in enumerate(cells)}
    board = filled(table("seed", runs)).leaderboard("quiz")
    (row,) = board.rows
    assert row.estimate == pytest.approx(cells[1:].mean())
    assert any("seed 0 left out: 10 of 40 questions" in note for note in board.notes)


def test_runs_without_a_seed_are_not_another_seed(filled: Filled) -> None:
    cells = drawn(2, 40)
    bare = table("", {("m",): drawn(1, 40, 9)[0]})
    board = filled(by_seed(m=cells), bare).leaderboard("quiz")
    (row,) = board.rows
    assert row.estimate == pytest.approx(cells.mean()) and row.n_seeds == 2
    assert any("the runs without a seed left out" in note for note in board.notes)


def test_two_seeds_that_say_nothing_take_no_place(filled: Filled) -> None:
    cells = {
        "apart": np.array([[1.0] * 45 + [0] * 55, [1.0] * 75 + [0] * 25]),
        "one": drawn(1, 100),
    }
    board = filled(by_seed(**cells)).leaderboard("quiz")
    row = next(row for row in board.rows if row.model == "apart")
    assert {"two_seeds", "seeds_dominate", "seeds_too_few"} <= set(row.flags)
    assert row.rank is None and row.no_place == "too few seeds"
    assert any(
        "0.45 and 0.75: too few for an interval, and for a place" in note
        for note in board.notes
    )
    assert "2: 45.0, 75.0" in str(board)
    (other,) = (row for row in board.rows if row.model == "one")
    assert "one_seed" in other.flags and other.rank == 1


def test_comparison_is_over_the_seeds_of_both(filled: Filled) -> None:
    a, b = drawn(3, 80, 2, 0.8), drawn(5, 80, 3)
    store = filled(by_seed(a=a, b=b))
    (row,) = store.compare("a", "b").rows
    expected = difference_over_seeds(a, b, bounds=(0, 1))
    assert row.difference == pytest.approx(
        expected.difference
    ) and row.p_value == pytest.approx(expected.p_value)
    assert (
        row.ci_low == pytest.approx(expected.ci_low)
        and row.method == "independent_seeds"
    )
    assert len(row.runs_a) == 3 and row.p_permutation is None
    turned = store.compare("b", "a").rows[0]
    assert turned.p_value == pytest.approx(row.p_value)
    pair = store.pairs("quiz").rows[0]
    assert pair.p_value == pytest.approx(row.p_value)


def test_one_seed_can_be_chosen_and_named_runs_are_compared_as_they_are(
    filled: Filled,
) -> None:
    a, b = drawn(3, 50, 2), drawn(3, 50, 3)
    store = filled(by_seed(a=a, b=b))
    (row,) = store.compare("a", "b", where=["training_seed=0"]).rows
    assert row.method == "paired_added_prompts" and row.difference == pytest.approx(
        a[0].mean() - b[0].mean()
    )
    with pytest.raises(MisuseError, match="means 3 conditions"):
        store.compare("a", "b", each="seed")


def test_paired_seeds_are_those_of_equal_labels(filled: Filled) -> None:
    a, b = drawn(4, 50, 2), drawn(4, 50, 3)
    (row,) = filled(by_seed(a=a, b=b)).compare("a", "b", pair_seeds=True).rows
    assert row.method == "paired_seeds"


def test_seeds_of_sampling_are_draws(filled: Filled) -> None:
    cells = drawn(1, 40, 5).repeat(3, axis=0)
    (row,) = filled(by_seed(m=cells)).leaderboard("quiz", seeds_are="sampling").rows
    assert row.seed_means == () and row.n_draws == 120 and "two_seeds" not in row.flags


def test_the_gate_holds_the_margin_against_other_seeds_too(filled: Filled) -> None:
    a, b = drawn(3, 200, 2, 0.5), drawn(3, 200, 3, 0.5)
    found = filled(by_seed(a=a, b=b)).gate("a", "b", margin=0.2)
    (row,) = found.rows
    one_sided = difference_over_seeds(a, b, bounds=(0, 1), level=0.9)
    assert row.low == pytest.approx(one_sided.ci_low)
    assert row.method == "over seeds"


def test_settings_keep_rows_apart(filled: Filled, tmp_path: Path) -> None:
    low, high = drawn(2, 30, 1), drawn(2, 30, 2)
    first = by_seed(m=low)
    second = by_seed(m=high)
    store = filled(first)
    path = tmp_path / "second.csv"
    path.write_text(second)
    store.ingest(path, values={"temperature": "0.8"})
    figures = sorted(row.estimate or 0 for row in store.leaderboard("quiz").rows)
    assert figures == pytest.approx(sorted([float(low.mean()), float(high.mean())]))


def repeats(*scores: Iterable[float], fields: str = "") -> list[str]:
    return [table(fields, {("m", *(["0"] if fields else [])): own}) for own in scores]


def test_repeats_that_do_not_look_like_repeats_are_told_apart(filled: Filled) -> None:
    store = filled(*repeats([1.0] * 60 + [0.0] * 40, [0.0] * 60 + [1.0] + [0.0] * 39))
    board = store.leaderboard("quiz")
    assert len(board.rows) == 2
    for row in board.rows:
        assert "repeats_differ" in row.flags and row.rank is None
        assert row.condition.startswith("run ")
    assert any(
        "claim the same settings but differ by more than chance" in note
        for note in board.notes
    )
    (pooled,) = store.leaderboard("quiz", repeats="pool").rows
    assert pooled.estimate == pytest.approx(0.305) and pooled.rank == 1
    (wide,) = store.leaderboard("quiz", repeats="as_seeds").rows
    assert wide.seed_means == pytest.approx((0.6, 0.01))


def test_repeats_that_look_like_repeats_are_draws(filled: Filled) -> None:
    one = [1.0, 0.0] * 30
    other = [1.0, 0.0] * 28 + [0.0, 1.0] * 2
    (row,) = filled(*repeats(one, other)).leaderboard("quiz").rows
    assert (row.n_draws, row.runs, row.seed_means) == (120, 2, ())


def test_greedy_repeats_that_differ_are_counted(filled: Filled) -> None:
    one = [1.0, 0.0] * 30
    other = [1.0, 0.0] * 28 + [0.0, 1.0] * 2
    board = filled(*repeats(one, other, fields="temperature")).leaderboard("quiz")
    (row,) = board.rows
    assert "greedy_differs" in row.flags
    assert any(
        "temperature 0, yet 4 of 60 prompts scored otherwise" in note
        for note in board.notes
    )


INFINITE = """\
model,benchmark,prompt_id,score
"""


def infinite(seeded: bool = False) -> str:
    head = "model,seed,benchmark,prompt_id,score\n" if seeded else INFINITE
    lines = []
    for place in range(30):
        seed = ("0,",) if seeded else ("",)
        lines.append(f"a,{seed[0]}reg,q{place},{'inf' if place < 20 else 0.5}")
        lines.append(f"b,{seed[0]}reg,q{place},{1 + place / 100}")
    return head + "\n".join(lines) + "\n"


@pytest.mark.parametrize("seeded", [False, True])
def test_a_model_with_infinite_scores_stands_last(
    duckdb_url: str, tmp_path: Path, seeded: bool
) -> None:
    path = tmp_path / "inf.csv"
    path.write_text(infinite(seeded))
    store = connect(duckdb_url)
    store.ingest(path, higher_is_better=False)
    board = store.leaderboard("reg")
    assert [(row.model, row.rank) for row in board.rows] == [("b", 1), ("a", 2)]
    last = board.rows[1]
    assert (last.estimate, last.standard_error, last.reason) == (
        math.inf,
        None,
        "infinite",
    )
    assert last.share_infinite == pytest.approx(2 / 3)
    assert (last.median, last.mean_finite) == (math.inf, 0.5)
    assert (last.n_unscored, last.n_prompts) == (0, 30)
    assert any(
        "20 of 30 answers are off by an infinite amount" in note for note in board.notes
    )
    (row,) = store.compare("a", "b").rows
    assert row.better == "b" and row.p_value == pytest.approx(2 * 2 * 0.5**20)
    assert store.compare("b", "a").rows[0].better == "a"
    with pytest.raises(MisuseError, match="infinite"):
        store.gate("a", "b", margin=0.1)
    with pytest.raises(MisuseError, match="infinite"):
        store.pairs("reg")


def test_an_infinite_figure_is_null_for_programs(
    run: Caller, duckdb_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "inf.csv"
    path.write_text(infinite())
    run("ingest", str(path), "--lower-is-better", db=duckdb_url)
    rows = run("leaderboard", "reg", "--json", db=duckdb_url).rows
    assert (rows[1]["estimate"], rows[1]["share_infinite"]) == (
        None,
        pytest.approx(2 / 3),
    )
    (pair,) = run("compare", "a", "b", "--json", db=duckdb_url).rows
    assert (pair["difference"], pair["better"]) == (None, "b")


def test_published_reruns_have_the_error_that_the_reruns_give(
    duckdb_url: str, tmp_path: Path
) -> None:
    figures = [0.49, 0.5, 0.46, 0.49, 0.5]
    lines = ["model,benchmark,accuracy,n,run_id"]
    lines += [
        f"m,quiz,{value},200,run_{number}" for number, value in enumerate(figures)
    ]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "runs.toml").write_text(
        'files = ["runs.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        'run_id = "run_id"\n'
        "[[published]]\n"
        'metric = "accuracy"\n'
        'value = "accuracy"\n'
        'n = "n"\n'
        "[metrics.accuracy]\n"
        'kind = "binary"\n'
        "higher_is_better = true\n"
    )
    store = connect(duckdb_url)
    store.ingest(tmp_path / "runs.csv", mapping=tmp_path / "runs.toml")
    (row,) = store.leaderboard("quiz").rows
    assert (row.estimate, row.runs) == (pytest.approx(np.mean(figures)), 5)
    assert row.standard_error == pytest.approx(np.std(figures, ddof=1) / math.sqrt(5))
    assert row.ci_low is not None and "published" in row.flags and row.n_seeds is None


def test_a_sequential_test_says_that_it_knows_nothing_of_seeds(filled: Filled) -> None:
    store = filled(by_seed(a=drawn(3, 40, 2), b=drawn(3, 40, 3)))
    with pytest.raises(
        MisuseError, match=r"3 training seeds.*where=\[.training_seed=0.\]"
    ):
        store.sequential_gate("a", "b", margin=0.1)
    assert (
        store.sequential_gate("a", "b", margin=0.1, where=["training_seed=1"])
        .rows[0]
        .n_max
        == 40
    )


def test_versions_that_differ_among_pooled_runs_are_told_and_split_nothing(
    duckdb_url: str, tmp_path: Path
) -> None:
    store = connect(duckdb_url)
    for number, version in enumerate(("0.4.11", "0.4.9")):
        scores = drawn(1, 30, 40 + number)[0]
        path = tmp_path / f"run{number}.csv"
        path.write_text(
            table(
                "run_id",
                {("m", f"r{number}"): scores, ("other", f"r{number}"): 1 - scores},
            )
        )
        store.ingest(path, values={"harness_version": version})
    board = store.leaderboard("quiz")
    assert {row.versions for row in board.rows} == {"harness 0.4.9, 0.4.11"} and len(
        board.rows
    ) == 2
    assert any("harness 0.4.9, 0.4.11" in note for note in board.notes)
    assert any(
        "harness 0.4.9, 0.4.11" in note for note in store.compare("m", "other").notes
    )


def test_answers_say_where_the_same_bytes_count_twice(
    duckdb_url: str, tmp_path: Path, run: Caller
) -> None:
    lines = ["model,benchmark,prompt_id,score,other"]
    scores = {model: drawn(2, 30, number) for number, model in enumerate("ab")}
    lines += [
        f"{m},quiz,q{i},{own[0][i]:g},{own[1][i]:g}"
        for m, own in scores.items()
        for i in range(30)
    ]
    (tmp_path / "both.csv").write_text("\n".join(lines) + "\n")
    mapping = (
        'files = ["both.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "VALUE"\n'
        "[metrics.score]\n"
        'kind = "binary"\n'
        "higher_is_better = true\n"
    )
    for column in ("score", "other"):
        (tmp_path / f"{column}.toml").write_text(mapping.replace("VALUE", column))
        call = (
            "ingest",
            str(tmp_path / "both.csv"),
            "--map",
            str(tmp_path / f"{column}.toml"),
            "--beside",
        )
        run(*call, db=duckdb_url)
    store = connect(duckdb_url)
    answers = {
        "leaderboard": store.leaderboard("quiz").notes,
        "pairs": store.pairs("quiz").notes,
        "compare": store.compare("a", "b").notes,
        "gate": store.gate("a", "b", margin=0.1).notes,
    }
    for name, notes in answers.items():
        assert any(
            "the same bytes count twice here" in note and "fix forget 1" in note
            for note in notes
        ), name
    run("report", "-o", str(tmp_path / "page.html"), db=duckdb_url)
    assert "the same bytes count twice" in (tmp_path / "page.html").read_text()
