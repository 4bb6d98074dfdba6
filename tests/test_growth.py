"""How the cost of each work grows, by counts that are the same on every machine and under every load.

`benchmarks/growth.py` counts; `python benchmarks/run.py growth` does it at the sizes that users have, with processor
seconds. Here the sizes are those at which growth shows, and nothing is timed.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("growth")


@pytest.mark.slow
@pytest.mark.parametrize(("axis", "sizes", "bounds"), GROWS, ids=[axis for axis, *_ in GROWS])
def test_no_work_grows_faster_than_it_should(
    growth: Any, tmp_path: Path, axis: str, sizes: list[Any], bounds: dict[str, dict[str, float]]
) -> None:
    too_fast = [
        f"{one.work} by {axis}: {count} grow by {one.exponents()[count]:.2f}, not {bound}: {one.figures[count]}"
        for one in growth.grown(tmp_path, axis, sizes, tuple(bounds))
        for count, bound in (USUAL | bounds[one.work]).items()
        if one.exponents()[count] > bound
    ]
    assert not too_fast, "\n".join(too_fast)
