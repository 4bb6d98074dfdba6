"""What is read first of stored figures: what changed last."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from warehouse.refresh.history_report import History, HistoryRow
from warehouse.tables.text import in_text

ROW = HistoryRow(
    **{"refreshed_at": datetime(2026, 3, 1, 9), "refresh_id": 2},
    **{"subject_kind": "condition", "subject": "org/a", "benchmark": "quiz"},
    **{"metric": "acc", "statistic": "score", "method": "wilson"},
    **{"method_version": "1", "estimate": 0.75, "standard_error": 0.05, "low": 0.65},
    **{"high": 0.85, "n": 40, "n_clusters": None, "previous_estimate": None},
    **{"change": None, "age": 1, "reason": "", "input_fingerprint": "0"},
    p_value=None,
)


def told(*rows: HistoryRow, benchmark: str = "quiz") -> list[str]:
    shown: Any = History("org/a", benchmark, rows)
    return in_text(shown.view(), width=2000).splitlines()


def test_nothing_changed() -> None:
    assert told(ROW)[0] == (
        "No figure has changed: 1 stored figure, the last refresh was 2026-03-01 09:00 "
        "UTC."
    )
    assert told()[0] == "No figure is stored."


def test_the_last_change_of_a_score() -> None:
    earlier = datetime(2026, 2, 1, 9)
    older = replace(ROW, change=0.3, refreshed_at=earlier, age=2)
    newer = replace(ROW, change=-0.05)
    assert told(older, newer)[0] == (
        "2 changes among 2 stored figures; last the score of org/a, by -0.0500 to "
        "0.7500 (2026-03-01 09:00 UTC)."
    )
    assert " on quiz, by " in told(newer, benchmark="")[0]


def test_what_changed_is_no_score() -> None:
    moved = replace(ROW, statistic="rank", change=1.0, estimate=2.0)
    assert told(moved, ROW)[0].endswith("; no score is among them.")


def test_methods_stand_under_explain() -> None:
    shown: Any = History("org/a", "quiz", (ROW,))
    assert "wilson" not in in_text(shown.view(), width=2000)
    assert "wilson" in in_text(shown.view(verbose=True), width=2000)
