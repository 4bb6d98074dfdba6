"""How the cost of each work grows, by counts that are the same on every machine and
under every load.

`benchmarks/growth.py` counts; `python benchmarks/run.py growth` does it at the sizes
that users have, with processor seconds. Here the sizes are those at which growth shows,
and nothing is timed.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


#: What no count may grow faster than, where a work says nothing else.
USUAL = {"calls": 1.1, "statements": 1.1, "rows read": 1.1, "bytes written": 1.1}
#: Statements do not hang on how much there is of what they ask for.
STEADY = {"statements": 0.1}
#: A question about one benchmark: what is not of it costs the scan of a table and no
#: more.
APART = {"calls": 0.1, "statements": 0.1}
#: How often a browser asks until a page is there hangs on the machine, so calls say
#: nothing.
POLLED = {"calls": 9.0}
#: Axis, benchmarks x models x prompts, and what else holds for each work; ingest comes
#: first and makes the store.
GROWS: list[tuple[str, list[tuple[int, int, int]], dict[str, dict[str, float]]]] = [
    (
        "rows",
        [(1, 3, 3000), (1, 3, 30_000)],
        dict.fromkeys(("ingest", "leaderboard", "compare", "refresh"), STEADY),
    ),
    (
        "models",
        [(1, 80, 10), (1, 240, 10)],
        {
            "ingest": STEADY,
            "leaderboard": STEADY,
            "compare": APART,
            "pairs": STEADY
            | {"calls": 2.1, "bytes written": 2.1},  # all of them, and a line for each
            "report": STEADY,
            "refresh": {"statements": 0.5},  # figures are stored some hundred at a time
        },
    ),
    (
        "benchmarks",
        [(20, 2, 10), (60, 2, 10)],
        {
            "ingest": {},
            "leaderboard": APART,
            "pairs": APART,
            "report": {},
            "overview": POLLED,
            "refresh": {},
        },
    ),
    (
        "runs",
        [(6, 6, 5), (18, 18, 5)],
        {"ingest": {}, "report": {}, "overview": POLLED, "refresh": {}},
    ),
]


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("growth")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("axis", "sizes", "bounds"), GROWS, ids=[axis for axis, *_ in GROWS]
)
def test_no_work_grows_faster_than_it_should(
    growth: Any,
    tmp_path: Path,
    axis: str,
    sizes: list[Any],
    bounds: dict[str, dict[str, float]],
) -> None:
    too_fast = [
        f"{one.work} by {axis}: {count} grow by {one.exponents()[count]:.2f}, not "
        f"{bound}: {one.figures[count]}"
        for one in growth.grown(tmp_path, axis, sizes, tuple(bounds))
        for count, bound in (USUAL | bounds[one.work]).items()
        if one.exponents()[count] > bound
    ]
    assert not too_fast, "\n".join(too_fast)
