"""Runs that share a part of their prompts: what the others add."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import Caller
from warehouse.stats import partially_paired_difference


def test_prompts_that_only_one_has_stand_beside_the_pairs(
    run: Caller, store_url: str, tmp_path: Path
) -> None:
    """Ten common prompts, fifty more of each."""
    random, path = np.random.default_rng(2), tmp_path / "t.csv"
    prompts = {"a": range(60), "b": [*range(10), *range(60, 110)]}
    scores = {model: random.normal(model == "a", 1, 60).round(6) for model in prompts}
    with path.open("w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["model", "benchmark", "id", "prompt", "score"])
        for model, numbers in prompts.items():
            lines.writerows(
                [model, "part", n, f"q {n}", x]
                for n, x in zip(numbers, scores[model], strict=True)
            )
    assert run("ingest", str(path), db=store_url).code == 0
    found = run("compare", "a", "b", "-b", "part", db=store_url)
    (row,) = run("compare", "a", "b", "-b", "part", "--json", db=store_url).rows
    a, b = scores["a"], scores["b"]
    expected = partially_paired_difference(a[:10], b[:10], a[10:], b[10:])
    for name in ("difference", "standard_error", "ci_low", "ci_high", "p_value"):
        assert row[f"partial_{name}"] == pytest.approx(getattr(expected, name)), name
    assert (row["n_prompts"], row["only_a"], row["only_b"]) == (10, 50, 50)
    assert row["difference"] == pytest.approx((a - b)[:10].mean())
    said = " ".join(found.out.split())
    assert (
        "With the 50 and 50 prompts that only one has: a - b "
        f"{expected.difference:+.3g} [" in said
    )
