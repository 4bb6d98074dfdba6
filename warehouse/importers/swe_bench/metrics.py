"""What is measured in SWE-bench, and how its tracks are called as benchmarks."""

from __future__ import annotations

from typing import Any

from warehouse.importers.base import binary_metric
from warehouse.records import MetricSpec

BENCHMARK = "swe_bench"
METRIC = "resolved"

RESOLVED = binary_metric(METRIC, scorer_kind="execution", is_default=True)
API_CALLS = MetricSpec(
    "api_calls",
    kind="continuous",
    low=0,
    higher_is_better=False,
    scorer_kind="execution",
    unit="calls",
    is_default=False,
)


def track_fields(track: str) -> dict[str, Any]:
    """Benchmark and split of a track of the leaderboard (``verified``, ``lite``, ``test`` …)."""
    return {
        "benchmark": BENCHMARK if track in ("", "test") else f"{BENCHMARK}_{track}",
        "split": "test" if track else "",
    }
