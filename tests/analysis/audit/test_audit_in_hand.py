"""What an audit says of answers that were read: places, differences and agreement
against plain arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.analysis.test_without_store import ACC, NOBODY, answers
from warehouse.analysis.audit.against import (
    HumanVerdicts,
    agreement,
    effect_of,
    table_rows,
)
from warehouse.analysis.audit.answer import audit_of
from warehouse.analysis.audit.keys import (
    SEVERAL_KEYS,
    ChoiceRows,
    Key,
    PromptOptions,
    TextAnswers,
    keys_of,
)
from warehouse.analysis.audit.rows import EffectRow
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.analysis.selection.scores import PromptScores

Floats = NDArray[np.float64]


def entry(
    name: str,
    values: Sequence[float],
    weights: Sequence[float] | None = None,
    **more: object,
) -> ScoredCondition:
    """A complete run; ``more``: its metric, the first of its prompts, the prompts of
    the benchmark."""
    n, first, metric = len(values), more.get("first", 0), more.get("metric", ACC)
    assert isinstance(first, int) and isinstance(metric, Metric)
    ids, flat = np.arange(first, first + n), np.ones(n)
    scores = PromptScores(
        ids,
        np.array(values, dtype=float),
        flat if weights is None else np.array(weights, dtype=float),
        flat,
        np.full(n, np.nan),
        flat > 0,
        ids,
        np.zeros(n),
        0,
        n,
    )
    run = {
        "run_id": 1,
        "model": name,
        "benchmark": "quiz",
        "split": "",
        "task_version": "",
        "status": "complete",
    }
    run |= {"n_benchmark": more.get("whole", n), "position": None, "started_at": None}
    return ScoredCondition(Condition(name, (run,)), name, metric, scores, None)


def effect(
    *entries: ScoredCondition, suspects: Sequence[int] = ()
) -> dict[str, EffectRow]:
    left_out = np.array(suspects, dtype=np.int64)
    return {
        row.model: row
        for row in effect_of(entries, left_out, (), ClusterMap(NOBODY, NOBODY), 0.95)
    }


def test_a_place_is_one_more_than_the_number_of_better_ones() -> None:
    stored, _ = answers()
    found = audit_of(stored, effect=True).effect
    for figures, places in (
        ([row.estimate for row in found], [row.rank for row in found]),
        ([row.estimate_kept for row in found], [row.rank_kept for row in found]),
    ):
        assert (
            places
            == stats.rankdata(-np.array(figures, dtype=float), method="min").tolist()
        )
    assert audit_of(stored).effect == ()  # only where it is asked for


def test_suspects_that_are_left_out_change_places() -> None:
    rows = effect(
        entry("a", [1, 1, 0, 0]),
        entry("b", [0, 0, 1, 0]),
        entry("c", [1, 0, 0, 0]),
        suspects=[0, 1],
    )
    assert {name: (row.rank, row.rank_kept) for name, row in rows.items()} == {
        "a": (1, 2),
        "b": (2, 1),
        "c": (2, 2),
    }
    assert [row.change for row in rows.values()] == pytest.approx([-0.5, 0.25, -0.25])


def test_models_that_share_no_prompt_have_no_difference() -> None:
    rows = effect(entry("a", [1, 1, 1, 0]), entry("b", [0, 0, 1, 0], first=9))
    assert rows["b"].difference is None and rows["b"].difference_kept is None


@pytest.mark.parametrize("weighted", [(True, False), (False, True), (True, True)])
def test_a_difference_of_weighted_means_has_the_weights_of_both(
    weighted: tuple[bool, bool],
) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, 40)).astype(float)
    w, v = (rng.uniform(0.5, 3, 40) if has else np.ones(40) for has in weighted)
    suspects, kept = [3, 5, 8], np.setdiff1d(np.arange(40), [3, 5, 8])
    rows = effect(
        entry("a", a.tolist(), w.tolist()),
        entry("b", b.tolist(), v.tolist()),
        suspects=suspects,
    )
    (row,) = [row for row in rows.values() if row.difference is not None]
    sign = 1 if row.model == "a" else -1
    assert row.difference == pytest.approx(
        sign * (np.average(a, weights=w) - np.average(b, weights=v))
    )
    apart = np.average(a[kept], weights=w[kept]) - np.average(b[kept], weights=v[kept])
    assert row.difference_kept == pytest.approx(sign * apart)


@pytest.mark.parametrize(("place", "value"), [(0, 7.0), (1, -5.0), (0, -1.0), (1, 2.0)])
def test_bounds_that_one_of_two_models_breaks_are_no_bounds(
    place: int, value: float
) -> None:
    columns = [[1.0] * 9 + [0.0] * 3, [1.0, 0.0, 0.5] * 4]
    columns[place][2] = value
    unbounded = replace(ACC, kind="continuous", low=None, high=None)
    stated, free = (
        effect(
            *(
                entry(name, values, metric=metric)
                for name, values in zip("ab", columns, strict=True)
            )
        )["b"]
        for metric in (ACC, unbounded)
    )
    assert stated.difference == pytest.approx(np.mean(columns[1]) - np.mean(columns[0]))
    assert (stated.ci_low, stated.ci_high) == (free.ci_low, free.ci_high)
    assert free.ci_low is not None


def test_one_answer_of_each_model_is_no_data_map() -> None:
    assert {row.datamap_models for row in audit_of(answers()[0]).rows} == {None}


def test_a_key_that_cannot_be_judged_contradicts_none() -> None:
    """Nor do options of which the texts are not stored."""
    stored, _ = answers()
    words = PromptOptions(4, ("red", "blue", "green", "black"))
    asked = tuple(
        {**row, "text_hash": "the same"} if row["id"] < 2 else row
        for row in stored.prompts
    )
    for first, second in (
        (Key(words, 0), Key(words, 1, reason="the key is no option")),
        (Key(words, 0), Key(PromptOptions(4), 1)),
        (Key(PromptOptions(4), 0), Key(words, 1)),
    ):
        found = audit_of(
            replace(stored, prompts=asked, keys=(first, second, *stored.keys[2:]))
        )
        assert all(row.contradicts is None for row in found.rows)


def test_free_form_answers_of_several_draws_stand_beside_options_of_one() -> None:
    """Five models say 12 twice; one says 12 and 13: half a vote for each."""
    stored, _ = answers()
    texts = []
    for model, part in enumerate(stored.texts):
        words = ["12", *part.texts[1:], "13" if model == 5 else "12"]
        texts.append(
            TextAnswers(
                np.append(part.prompts, 0),
                np.append(part.runs, model),
                words,
                np.append(part.values * 0, 0),
            )
        )
    keys = (Key(texts=("12",)), *stored.keys[1:])
    rows = {
        row.prompt: row
        for row in audit_of(replace(stored, keys=keys, texts=tuple(texts))).rows
    }
    assert (rows["prompt:0"].votes_key, rows["prompt:0"].votes_rival) == (5.5, 0.5)


def test_answers_that_name_no_option_are_told_where_they_are_many() -> None:
    stored, _ = answers()
    for n, expected in (
        (60, []),
        (72, ["6 % of answers name no option: they count as wrong"]),
    ):  # of 1200
        first = stored.texts[0]
        words = [*(["who knows"] * n), *first.texts[n:]]
        texts = (
            replace(first, texts=words, values=first.values * 0),
            *stored.texts[1:],
        )
        assert [
            note
            for note in audit_of(replace(stored, texts=texts)).notes
            if "no option" in note
        ] == expected


def test_agreement_is_that_of_every_pair_of_a_wrong_and_a_right_key() -> None:
    stored, wrong = answers()
    verdicts = HumanVerdicts(
        "people.csv",
        "wrong",
        {f"p{item:03}": bool(is_wrong) for item, is_wrong in enumerate(wrong)},
    )
    found = audit_of(stored, verdicts=verdicts)
    rows = {int(row.prompt.removeprefix("prompt:")): row for row in found.rows}
    figures = {
        (row.score, row.figure): row.value for row in found.agreement if row.at is None
    }
    shares: dict[str, Floats] = {
        "share_wrong": np.array(
            [
                1 - (rows[item].votes_key or 0) / rows[item].n_models
                for item in range(len(wrong))
            ]
        ),
        "rival_votes": np.array(
            [
                (rows[item].votes_rival or 0) / rows[item].n_models
                for item in range(len(wrong))
            ]
        ),
    }
    for name, score in shares.items():
        apart = score[wrong][:, None] - score[~wrong][None, :]
        assert figures[name, "auc"] == pytest.approx(
            ((apart > 0) + (apart == 0) / 2).mean()
        )


def test_strata_without_both_kinds_of_keys_have_no_ranking_within() -> None:
    posterior, wrong = np.array([0.9, 0.8, 0.2, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])
    for strata, expected in ((["x", "x", "y", "y"], []), (["x", "y", "x", "y"], [1.0])):
        rows, _ = agreement(posterior, {}, wrong, strata, 0.1)
        assert [row.value for row in rows if row.figure == "auc_within"] == expected


def test_options_that_several_runs_mark_as_right_are_one_key() -> None:
    """Prompt 7: two runs mark option 2; prompt 8: one marks two options."""
    marks = [(7, run, option, option == 2) for run in (1, 2) for option in range(4)]
    marks += [(8, 1, option, option in (0, 1)) for option in range(3)]
    prompts, runs, options, is_target = (
        np.array(column) for column in zip(*marks, strict=True)
    )
    unknown = np.full(len(marks), np.nan)
    choices = ChoiceRows(
        prompts,
        runs,
        np.cumsum(options == 0) - 1,
        options,
        unknown,
        unknown,
        unknown,
        unknown,
        is_target.astype(float),
    )
    found = keys_of(
        [{"id": prompt, "target": None, "choices": None} for prompt in (7, 8)],
        choices,
        None,
    )
    assert found == [
        Key(PromptOptions(4), 2),
        Key(PromptOptions(3), reason=SEVERAL_KEYS),
    ]


def test_prompts_in_a_table_may_be_long_and_hold_separators(tmp_path: Path) -> None:
    path, prompt = tmp_path / "judge.csv", "x\u2028y\x0c" * 50_000
    path.write_text(
        f"key,question,wrong\n1,{prompt},1,surplus\n2,short\n", encoding="utf-8"
    )
    assert table_rows(path) == [
        {"key": "1", "question": prompt, "wrong": "1"},
        {"key": "2", "question": "short", "wrong": ""},
    ]
