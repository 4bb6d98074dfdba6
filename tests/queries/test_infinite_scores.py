"""Infinite scores as figures are made of them, on both engines: kept as text, counted
by prompt."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from warehouse import connect
from warehouse.store.open import open_store
from warehouse.store.sql.query_files import query_text

TABLE = """\
model,benchmark,prompt_id,score
a,reg,q0,inf
a,reg,q1,-Infinity
a,reg,q2,1.5
a,reg,q3,
b,reg,q0,2
b,reg,q1,nan
b,reg,q2,1
b,reg,q3,3
"""


@pytest.fixture
def filled(store_url: str, tmp_path: Path) -> str:
    path = tmp_path / "inf.csv"
    path.write_text(TABLE)
    connect(store_url).ingest(path, higher_is_better=False)
    return store_url


def test_only_infinite_scores_are_found(filled: str) -> None:
    with open_store(filled) as store:
        runs = store.rows("select run_id, model from run_current order by model")
        metrics = [row["id"] for row in store.rows("select id from metric")]
        ids = {"run_ids": [row["run_id"] for row in runs], "metric_ids": metrics}
        found = store.rows(query_text("analysis/selection", "infinite_scores"), ids)
    counted = [(row["run_id"], row["n_above"], row["n_below"]) for row in found]
    assert sorted(counted) == [(runs[0]["run_id"], 0, 1), (runs[0]["run_id"], 1, 0)]


def test_views_and_figures_stand_beside_infinite_scores(filled: str) -> None:
    with open_store(filled) as opened:
        assert len(opened.rows("select model, estimate from score_summary")) == 2
    rows = {row.model: row for row in connect(filled).leaderboard("reg").rows}
    assert (rows["a"].estimate, rows["a"].reason, rows["a"].n_unscored) == (
        None,
        "both_infinities",
        1,
    )
    assert rows["b"].estimate == pytest.approx(2)


SIDES = """\
model,benchmark,prompt_id,score
above,reg,q0,inf
above,reg,q1,1
below,reg,q0,-inf
below,reg,q1,1
every,reg,q0,inf
every,reg,q1,Infinity
both,reg,q0,inf
both,reg,q1,-inf
plain,reg,q0,3
plain,reg,q1,1
"""


@pytest.fixture
def sides(store_url: str, tmp_path: Path) -> str:
    path = tmp_path / "sides.csv"
    path.write_text(SIDES)
    connect(store_url).ingest(path, higher_is_better=False)
    return store_url


def test_the_view_has_the_figures_of_the_leaderboard(sides: str) -> None:
    board = {row.model: row for row in connect(sides).leaderboard("reg").rows}
    with open_store(sides) as store:
        found = {row["model"]: row for row in store.rows("select * from score_summary")}
    expected = {
        "above": math.inf,
        "below": -math.inf,
        "every": math.inf,
        "both": None,
        "plain": 2.0,
    }
    for model, estimate in expected.items():
        row, shown = found[model], board[model]
        assert row["estimate"] == estimate == shown.estimate, model
        assert (row["n_prompts"], row["n_draws"], row["n_unscored"]) == (2, 2, 0), model
        assert (shown.n_prompts, shown.n_draws, shown.n_unscored) == (2, 2, 0), model
        assert row["n_prompts_unscored"] == 0
        is_finite = model == "plain"
        assert (
            (row["standard_error"] is not None)
            == is_finite
            == (shown.standard_error is not None)
        )
    assert found["above"]["method"] == found["below"]["method"] == "none: infinite"
    assert found["both"]["method"] == "none: infinite on both sides"


def test_no_view_breaks_on_infinite_figures(sides: str) -> None:
    with open_store(sides) as store:
        seeds = {row["model"]: row for row in store.rows("select * from seed_summary")}
        rates = {
            row["model"]: row["mean_win_rate"]
            for row in store.rows("select * from mean_win_rate")
        }
        runs = {row["run_id"]: row for row in store.rows("select * from run_score")}
    assert (
        seeds["above"]["seed_mean"] == math.inf and seeds["above"]["seed_std"] is None
    )
    assert set(rates) == {"above", "below", "every", "plain"}
    assert rates["below"] == 1 and rates["above"] == rates["every"] == 0
    assert len(runs) == 4  # both infinities have no mean


def test_a_published_infinity_is_that_of_the_samples(
    store_url: str, tmp_path: Path
) -> None:
    (tmp_path / "scores.csv").write_text(SIDES)
    lines = [
        "model,benchmark,score,n",
        "above,reg,inf,2",
        "below,reg,inf,2",
        "plain,reg,2,2",
        "every,reg,3,2",
    ]
    (tmp_path / "figures.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "figures.toml").write_text(
        'files = ["figures.csv"]\n'
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[[published]]\n"
        'metric = "score"\n'
        'value = "score"\n'
        'n = "n"\n'
        "[metrics.score]\n"
        'kind = "continuous"\n'
    )
    store = connect(store_url)
    store.ingest(tmp_path / "scores.csv", higher_is_better=False)
    report = store.ingest(tmp_path / "figures.csv", mapping=tmp_path / "figures.toml")
    note = next(note for note in report.all_notes if "contradict" in note)
    assert (
        "above" not in note
        and "plain" not in note
        and "below" in note
        and "every" in note
    )
    (row,) = (row for row in store.leaderboard("reg").rows if row.model == "above")
    assert row.estimate == math.inf


def test_figures_that_are_published_as_infinite_stand_last(
    store_url: str, tmp_path: Path
) -> None:
    (tmp_path / "figures.csv").write_text(
        "model,benchmark,loss\na,reg,inf\nb,reg,2\nc,reg,-inf\n"
    )
    (tmp_path / "figures.toml").write_text(
        'files = ["figures.csv"]\n[run]\nmodel = "model"\nbenchmark = "benchmark"\n'
        '[[published]]\nmetric = "loss"\nvalue = "loss"\n'
        '[metrics.loss]\nkind = "continuous"\nhigher_is_better = false\n'
    )
    store = connect(store_url)
    store.ingest(tmp_path / "figures.csv", mapping=tmp_path / "figures.toml")
    rows = store.leaderboard("reg").rows
    assert [(row.model, row.estimate) for row in rows] == [
        ("c", -math.inf),
        ("b", 2.0),
        ("a", math.inf),
    ]
    assert rows[-1].standard_error is None and "infinite" in rows[-1].flags
    with open_store(store_url) as opened:
        figures = opened.rows("select estimate from run_score order by estimate")
        verdicts = {
            row["verdict"]
            for row in opened.rows("select verdict from published_against_recomputed")
        }
    assert [row["estimate"] for row in figures] == [-math.inf, 2.0, math.inf]
    assert verdicts == {"not_recomputable"}


NO_SCORE = """\
model,benchmark,prompt_id,score
wild,quiz,q0,inf
wild,quiz,q1,1
wild,quiz,q2,0
wild,quiz,q3,0
lacks,quiz,q0,nan
lacks,quiz,q1,1
lacks,quiz,q2,0
lacks,quiz,q3,0
plain,quiz,q0,1
plain,quiz,q1,1
plain,quiz,q2,1
plain,quiz,q3,0
"""


def test_of_scores_that_are_0_or_1_an_infinite_one_is_missing(
    store_url: str, tmp_path: Path
) -> None:
    """It had made its model the first of the leaderboard."""
    (tmp_path / "quiz.csv").write_text(NO_SCORE)
    report = connect(store_url).ingest(tmp_path / "quiz.csv")
    notes = "\n".join(report.all_notes)
    assert "infinite where no score can be" in notes
    assert "(prompt q0 of wild)" in notes
    board = connect(store_url).leaderboard("quiz")
    assert board.rows[0].model == "plain"
    rows = {row.model: row for row in board.rows}
    with open_store(store_url) as store:
        found = {row["model"]: row for row in store.rows("select * from score_summary")}
        assert store.rows("select * from infinite_score") == []
    for name in ("wild", "lacks"):
        row, shown = rows[name], found[name]
        assert row.estimate == pytest.approx(1 / 3) == shown["estimate"]
        assert (row.n_prompts, row.n_unscored) == (3, 1)
        assert (shown["n_prompts"], shown["n_unscored"]) == (3, 1)
        assert "infinite" not in row.flags


@pytest.mark.parametrize(("bounds", "is_score"), [("", True), ("high = 10\n", False)])
def test_beyond_declared_bounds_an_infinite_score_is_missing(
    store_url: str, tmp_path: Path, bounds: str, is_score: bool
) -> None:
    (tmp_path / "s.csv").write_text(SIDES.replace("-inf", "2"))
    kind = "continuous" if is_score else "bounded"
    (tmp_path / "s.toml").write_text(
        'files = ["s.csv"]\n[run]\nmodel = "model"\nbenchmark = "benchmark"\n'
        '[sample]\nprompt_id = "prompt_id"\n[[scores]]\nmetric = "score"\n'
        'value = "score"\n[metrics.score]\nhigher_is_better = false\n'
        f'kind = "{kind}"\n' + (f"low = 0\n{bounds}" if bounds else "")
    )
    connect(store_url).ingest(tmp_path / "s.csv", mapping=tmp_path / "s.toml")
    rows = {row.model: row for row in connect(store_url).leaderboard("reg").rows}
    above = rows["above"]
    assert above.estimate == (math.inf if is_score else 1.0)
    assert above.n_unscored == (0 if is_score else 1)
