"""Confidence that is stored as a metric, on both engines: figures of the statistics, and
what is no confidence."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sklearn import metrics as sklearn_metrics

from tests.support.builders import StoreRows
from warehouse.analysis.answers.answer import answer_metrics
from warehouse.errors import MisuseError
from warehouse.stats import calibration_error
from warehouse.store.connection import Store
from warehouse.tables.text import in_text

DICE = random.Random(4)
SAID = {f"q{i:02d}": round(DICE.betavariate(4, 2), 2) for i in range(50)}
RIGHT = {key: float(DICE.random() < said) for key, said in SAID.items()}


def build() -> StoreRows:
    rows = StoreRows()
    acc, sure = rows.metric(), rows.metric("confidence")
    for name in ("quiz", "scaled"):
        rows.describe(name, acc)
        rows.describe(name, sure, kind="bounded", default=False)
    run = rows.run("org/a", "quiz")
    rows.scores(run, RIGHT, acc)
    rows.scores(run, SAID, sure)
    rows.scores(rows.run("org/silent", "quiz"), RIGHT, acc)
    drawn = rows.run("org/draws", "quiz")
    rows.scores(drawn, {key: [right, 1.0] for key, right in RIGHT.items()}, acc)
    rows.scores(drawn, {key: [said, said] for key, said in SAID.items()}, sure)
    run = rows.run("org/a", "scaled")
    rows.scores(run, RIGHT, acc)
    rows.scores(run, {key: 100 * said for key, said in SAID.items()}, sure)
    return rows


def ask(store: Store, name: str, *models: str, **options: Any) -> Any:
    """Confidence held against right answers."""
    return answer_metrics(store, name, models, confidence="confidence", **options)


def test_figures_are_those_of_scikit_learn(world: Store) -> None:
    report = ask(world, "quiz")
    rows = {row.metric: row for row in report.rows}
    said, right = [*SAID.values()], [*RIGHT.values()]
    assert {row.model for row in report.rows} == {"org/a"}
    assert rows["auroc"].estimate == pytest.approx(
        sklearn_metrics.roc_auc_score(right, said)
    )
    assert rows["brier"].estimate == pytest.approx(
        sklearn_metrics.brier_score_loss(right, said)
    )
    assert rows["ece"].estimate == calibration_error(said, right).estimate
    assert rows["ece"].ci_low is None and "biased upward" in rows["ece"].reason
    assert rows["overconfidence"].estimate == pytest.approx(
        sum(said) / 50 - sum(right) / 50
    )
    assert "AUROC" in report.one_line
    assert "confidence against right and wrong" in in_text(report.view())


def test_models_without_it_are_left_out_with_the_reason(world: Store) -> None:
    told = " ".join(ask(world, "quiz").left_out)
    assert "org/silent: no prompt has both confidence and a score" in told
    assert "org/draws: scores are not right (1) or wrong (0) alone" in told


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("scaled",), {}, "confidence runs from .* expected 0 to 1"),
        (("quiz",), {"metric": "kappa"}, "kappa is not of confidence"),
        (("quiz",), {"of_class": "x"}, "of_class reads answers"),
        (("quiz", "a", "b"), {}, "not compared by their confidence"),
    ],
)
def test_what_is_no_confidence_is_refused(
    world: Store, words: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(MisuseError, match=message):
        ask(world, *words, **options)


def test_its_metrics_need_it(world: Store) -> None:
    with pytest.raises(MisuseError, match="has no metric 'acc2'"):
        answer_metrics(world, "quiz", confidence="acc2")
    with pytest.raises(MisuseError, match="no headline metric beside"):
        answer_metrics(world, "quiz", confidence="acc")
