"""``prefer``: from stored votes to strengths, what is refused, and who judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warehouse
from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.stores import ENGINES, filled_store, store_at
from warehouse.analysis.prefer.answer import prefer
from warehouse.analysis.prefer.question import Prefer
from warehouse.analysis.prefer.view import PreferenceReport
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import UnusedError
from warehouse.stats.preferences.ballots import ballots
from warehouse.stats.preferences.contrasts import contrasts
from warehouse.stats.preferences.errors import preference_errors
from warehouse.stats.preferences.fit import fit_preferences
from warehouse.store.connection import Store
from warehouse.store.open import open_store

MODELS = ("org/a", "org/b", "org/c")
PAIRS = ((0, 1), (0, 2), (1, 2))
#: By pair: a letter a prompt.
PEOPLE = {(0, 1): "aabtaababtax", (0, 2): "aaataabaatab", (1, 2): "abatbaabtaba"}
JUDGE = {(0, 1): "bbababbaabba", (0, 2): "abaabbababab", (1, 2): "babbaabababa"}
WORDS = {"a": "a", "b": "b", "t": "tie", "x": "both_bad"}


def voted(
    people: dict[tuple[int, int], str] = PEOPLE,
    judge: dict[tuple[int, int], str] | None = None,
    **more: Any,
) -> StoreRows:
    rows = StoreRows()
    rows.add("source", (1,), sha256="1" * 64, settings_key="", path="votes.csv", format="tabular",
             importer_version="1", state="loaded")  # fmt: skip
    for who, votes in (("", people), ("judge/x", judge or {})):
        for (a, b), outcomes in votes.items():
            rows.votes(
                1,
                "quiz",
                (MODELS[a], MODELS[b]),
                [WORDS[one] for one in outcomes],
                judge=who,
            )
    for row in rows.rows["preference"]:
        row.update(more)
    return rows


@pytest.fixture(scope="module", params=ENGINES)
def both(request: pytest.FixtureRequest) -> Iterator[Store]:
    with filled_store(request, request.param, voted(judge=JUDGE)) as store:
        yield store


def asked(tmp_path: Path, rows: StoreRows, **settings: Any) -> PreferenceReport:
    url = store_at(tmp_path / "votes.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
        return prefer(store, "quiz", **settings)


def test_both_engines_give_the_figures_of_the_statistics(both: Store) -> None:
    report = prefer(both, "quiz", scorer="people", reference="org/c")
    first, second = (np.repeat([pair[side] for pair in PAIRS], 12) for side in (0, 1))
    outcomes = [
        "ab".find(one) if one in "ab" else 2 + (one == "x")
        for pair in PAIRS
        for one in PEOPLE[pair]
    ]
    prompts = np.tile(np.arange(12), 3)
    fit = fit_preferences(
        ballots(
            first, second, outcomes, n_models=3, voters=prompts // 2, prompts=prompts
        )
    )
    (found,) = contrasts(fit.theta, preference_errors(fit), np.array([[1.0, 0, -1]]))
    row = report.rows[0]
    assert (row.model, row.reference, row.rank) == ("org/a", "org/c", 1)
    assert (row.estimate, row.standard_error, row.p_value) == pytest.approx(
        (found.estimate, found.standard_error, found.p_value)
    )
    assert row.win_low == pytest.approx(1 / (1 + np.exp(-(found.low or 0))))
    assert (row.n_votes, row.n_wins, row.n_ties, row.n_prompts) == (24, 14, 5, 12)
    judge = report.judges[0]
    assert (
        judge.n_votes,
        judge.n_ties,
        judge.n_both_bad,
        judge.n_voters,
        judge.n_prompts,
    ) == (36, 7, 1, 6, 12)
    assert report.rows[-1].standard_error is None and report.rows[-1].reason == ""
    assert (
        judge.chances[0, 2] == pytest.approx(row.win_probability)
        and judge.chances[0, 0] == 0.5
    )


def test_several_who_judge_are_never_pooled(both: Store) -> None:
    with pytest.raises(
        MisuseError,
        match=r"judge/x \(model, 36 votes\), people \(human, 36 votes\), which are never",
    ):
        prefer(both, "quiz")
    report = prefer(both, "quiz", by="scorer")
    assert [row.scorer for row in report.rows] == ["judge/x"] * 3 + ["people"] * 3
    (agreement,) = report.agreement
    assert (agreement.n_votes, len(agreement.differences), agreement.reason) == (
        72,
        3,
        "",
    )
    by_judge, by_people = (
        {row.model: row.estimate for row in rows}
        for rows in (report.rows[:3], report.rows[3:])
    )
    for model, found in agreement.differences.items():
        assert found.estimate == pytest.approx(by_judge[model] - by_people[model])
    assert report.one_line.startswith("judge/x: 36 votes over 3 models: ")


def test_two_models_are_one_sentence(both: Store) -> None:
    report = prefer(both, "quiz", ("org/b", "org/a"), scorer="people")
    assert [row.model for row in report.rows] == ["org/a", "org/b"] and report.rows[
        1
    ].reference == "org/a"
    assert report.one_line.startswith("org/b beats org/a in ")
    whole = prefer(both, "quiz", scorer="people", reference="org/a")
    assert report.rows[1] == next(row for row in whole.rows if row.model == "org/b")
    with pytest.raises(
        MisuseError, match="org/z has no votes by people; did you mean org/"
    ):
        prefer(both, "quiz", ("org/z", "org/a"), scorer="people")
    for wrong in (
        {"by": "scorer", "scorer": "people"},
        {"reference": "org/a", "models": ("org/a", "org/b")},
    ):
        with pytest.raises(UnusedError):
            prefer(both, "quiz", **wrong)


def test_what_the_place_may_have_won_is_said(tmp_path: Path) -> None:
    report = asked(tmp_path, voted({(0, 1): "aaaaaaaaabaaaaaaabaaab"}, first="a"))
    assert "order_confounded" in report.rows[0].flags
    assert report.one_line.endswith(
        "org/a is better than org/b, or the place: one of the two was always shown "
        "first."
    )
    assert "it may be the place that won" in " ".join(str(report).split())


def test_a_group_that_never_lost_is_named(tmp_path: Path) -> None:
    islands = {(0, 1): "ababab", (0, 2): "aaaaaa", (1, 2): "aaaaaa"}
    with pytest.raises(
        MisuseError,
        match=r"2 groups .*: 1\) org/a, org/b; 2\) org/c; take one with --component 1",
    ):
        asked(tmp_path, voted(islands))
    store = warehouse.connect(f"duckdb:///{tmp_path}/votes.duckdb")
    report = store.prefer("quiz", component=1)
    assert [row.model for row in report.rows] == ["org/a", "org/b"] and report.judges[
        0
    ].n_votes == 6
    with pytest.raises(
        MisuseError, match="no group 2 of two models or more; there are 1"
    ):
        store.prefer("quiz", component=2)
    penalised = store.prefer("quiz", ridge=0.5)
    assert [row.flags for row in penalised.rows] == [("penalised",)] * 3
    assert all(
        row.standard_error is None
        and row.rank_low is None
        and "penalised" in row.reason
        for row in penalised.rows
    )


def test_a_judge_that_gives_no_strengths_says_why_beside_the_others(
    tmp_path: Path,
) -> None:
    report = asked(tmp_path, voted(judge={(0, 1): "aaaa"}), by="scorer")
    assert report.judges[1].models == () and "2 groups" in report.judges[1].reason
    assert "2 groups" in report.agreement[0].reason and len(report.rows) == 3


def test_covariates_move_strengths_and_are_refused_by_name(tmp_path: Path) -> None:
    rows = voted()
    rng = np.random.default_rng(0)
    for row in rows.rows["preference"]:
        row["covariates"] = {
            side: {"length": int(rng.integers(1, 99)), "same": 3} for side in "ab"
        }
    report = asked(tmp_path, rows, covariate=["length"])
    assert (
        list(report.judges[0].covariates) == ["length"]
        and report.rows[0].without_covariates is not None
    )
    store = warehouse.connect(f"duckdb:///{tmp_path}/votes.duckdb")
    plain = {row.model: row.estimate for row in store.prefer("quiz").rows}
    assert {row.model: row.without_covariates for row in report.rows} == pytest.approx(
        plain
    )
    with pytest.raises(
        StatisticsError, match="covariate same is the same in all votes"
    ):
        store.prefer("quiz", covariate=["same"])


def test_a_covariate_that_explains_all_votes_is_refused(tmp_path: Path) -> None:
    rows = voted(dict.fromkeys(PAIRS, "abababab"))
    for row in rows.rows["preference"]:
        row["covariates"] = {
            side: {"length": 10 + 9 * (row["outcome"] == side)} for side in "ab"
        }
    with pytest.raises(StatisticsError, match=r"separable: .*along length \+"):
        asked(tmp_path, rows, covariate=["length"])


def test_one_voter_has_no_errors(tmp_path: Path) -> None:
    report = asked(tmp_path, voted(voter="u1"))
    assert (
        "all votes are of one voter" in report.rows[0].reason
        and report.rows[0].low is None
    )
    assert report.one_line.startswith(
        "36 votes over 3 models: what they tell apart is not known: all votes are of "
        "one"
    )


def test_ties_and_weights_as_asked(tmp_path: Path) -> None:
    report = asked(
        tmp_path, voted(), ties="davidson", weights="uniform_pairs", drop_both_bad=True
    )
    judge = report.judges[0]
    assert judge.left_out == {"both bad": 1} and judge.n_votes == 35
    assert judge.tie_parameter is not None and report.rows[0].ties == "davidson"


def test_the_command(run: Caller, tmp_path: Path) -> None:
    asked(tmp_path, voted(judge=JUDGE), scorer="people")
    db = ["--db", f"duckdb:///{tmp_path}/votes.duckdb"]
    shown = run(
        *db, "prefer", "quiz", "--by", "scorer", "--svg", str(tmp_path / "q.svg")
    )
    assert shown.code == 0, shown.err
    first, second, *_ = shown.out.splitlines()
    assert first.startswith("Highest by 2 scorers: ")
    assert second.startswith("judge/x and people order the models alike to ")
    whole = run(*db, "prefer", "quiz", "--by", "scorer", "--all").out
    assert (
        "people (human)" in whole
        and "judge/x against people, on what both saw (72 votes)" in whole
    )
    assert (
        "voters_unknown: each vote of an unknown voter" in shown.err
        and (tmp_path / "q.svg").stat().st_size > 2000
    )
    elo = run(*db, "prefer", "quiz", "--scorer", "people", "--elo", "--errors", "cr1")
    assert "Elo" in elo.out and "Shown first: " not in elo.out
    assert "org/a has the highest figure; org/b, org/c may be the first" in elo.out
    explained = run(*db, "prefer", "quiz", "--scorer", "people", "--explain")
    assert "Shown first: " in explained.out
    short = run(*db, "prefer", "quiz", "--scorer", "people", "--top", "1").out
    assert "… 2 more (--all)" in short
    assert "org/b  " not in short
    rows = run(*db, "prefer", "quiz", "--scorer", "judge/x", "--json").rows
    assert [row["model"] for row in rows] == sorted((row["model"] for row in rows), key=lambda name: -next(
        row["estimate"] for row in rows if row["model"] == name))  # fmt: skip
    claim = str(tmp_path / "claim.json")
    made = run(*db, "claim", "prefer quiz --scorer people", "-o", claim)
    assert made.code == 0 and "of 1 sources" in made.err
    assert run(*db, "claim", "verify", claim).code == 0
    refused = run(*db, "prefer", "quiz", "org/a")
    assert refused.code == 2 and "name two models, or none; found org/a" in refused.err


def test_what_is_said_where_nothing_varies(tmp_path: Path) -> None:
    report = asked(tmp_path, voted(dict.fromkeys(PAIRS, "t" * 12)))
    assert (
        "what they tell apart is not known: the votes leave nothing that varies."
        in report.one_line
    )


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="found org/a, org/a"):
        Prefer("quiz", ("org/a", "org/a"))
    rows = voted(covariates={"a": {"length": float("nan")}, "b": {"length": 1.0}})
    with pytest.raises(StatisticsError, match="no vote that counts"):
        asked(tmp_path, rows, covariate=["length"])


def test_many_scorers_are_a_table_of_twenty_rows_that_says_who_leads(
    run: Caller, tmp_path: Path
) -> None:
    rows = voted()
    for number in range(26):
        judge = f"judge/{number:02}"
        for (a, b), outcomes in (JUDGE if number % 2 else PEOPLE).items():
            named = [WORDS[one] for one in outcomes]
            rows.votes(1, "quiz", (MODELS[a], MODELS[b]), named, judge=judge)
    url = store_at(tmp_path / "many.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    lines = run("prefer", "quiz", "--by", "scorer", db=url).out.splitlines()
    assert lines[0] == "Highest by 27 scorers: org/a by 14 and org/b by 13."
    assert lines[1].startswith("Two of them order the models alike to ")
    assert len(lines) <= 25 and "… 9 more (--all)" in lines[-2]
    whole = run("prefer", "quiz", "--by", "scorer", "--all", db=url).out
    assert "judge/25 (model) · 36 votes" in whole and "judge/24 against" in whole
    records = run("prefer", "quiz", "--by", "scorer", "--json", db=url).rows
    assert len(records) == 27 * 3
