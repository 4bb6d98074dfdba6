"""Groups of lm-evaluation-harness: which mean is published, and which mean its error
belongs to."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.support.ingested import ingested
from tests.support.stores import select

STAMP = "2026-11-25T23-46-21.389851"
SIZES = {"g_a": (40, 36), "g_b": (10, 5)}  # questions, and how many are right


def naive(n: int, right: int) -> float:
    share = right / n
    return math.sqrt(share * (1 - share) / (n - 1))


def pooled() -> float:
    """``pooled_sample_stderr`` of lm_eval/api/metrics.py."""
    sizes = [n for n, _ in SIZES.values()]
    squares = sum((n - 1) * naive(n, right) ** 2 * n for n, right in SIZES.values())
    return math.sqrt(squares / (sum(sizes) - len(sizes)) / sum(sizes))


UNWEIGHTED, WEIGHTED = 0.7, 41 / 50
OF_UNWEIGHTED = math.sqrt(sum(naive(*size) ** 2 for size in SIZES.values())) / 2


def write(folder: Path, mean: float, error: float) -> Path:
    results: dict[str, Any] = {
        "g": {"exact_match,none": mean, "exact_match_stderr,none": error}
    }
    for task, (n, right) in SIZES.items():
        results[task] = {
            "exact_match,none": right / n,
            "exact_match_stderr,none": naive(n, right),
        }
        rows = [
            {
                "doc_id": number,
                "doc": {"question": f"{task} {number}"},
                "target": "a",
                "arguments": [["ask", {}]],
                "resps": [["a"]],
                "filtered_resps": ["a"],
                "filter": "none",
                "metrics": ["exact_match"],
                "exact_match": float(number < right),
            }
            for number in range(n)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"samples_{task}_{STAMP}.jsonl").write_text(text)
    document = {
        "results": results,
        "groups": {"g": results["g"]},
        "group_subtasks": {"g": [*SIZES]},
        "n-samples": {
            task: {"original": n, "effective": n} for task, (n, _) in SIZES.items()
        },
        "config": {"model_args": "pretrained=org/m"},
        "model_name": "org/m",
        "date": 1795650379.07,
    }
    (folder / f"results_{STAMP}.json").write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize(
    ("mean", "error", "recomputed", "belongs_to"),
    [
        (UNWEIGHTED, OF_UNWEIGHTED, OF_UNWEIGHTED, "benchmarks"),
        (UNWEIGHTED, pooled(), OF_UNWEIGHTED, "pooled_prompts"),
        (WEIGHTED, pooled(), pooled(), "pooled_prompts"),
        (WEIGHTED, 0.3, pooled(), "unexplained"),
    ],
)
def test_the_error_of_a_group_is_that_of_its_own_mean(
    store_url: str,
    tmp_path: Path,
    mean: float,
    error: float,
    recomputed: float,
    belongs_to: str,
) -> None:
    with ingested(store_url, write(tmp_path, mean, error)) as (store, report):
        (figure,) = select(
            store, "select * from published_against_recomputed where run_id is null"
        )
        assert figure["verdict"] == "exact"
        assert figure["recomputed_standard_error"] == pytest.approx(
            recomputed, rel=1e-9
        )
        assert figure["published_error_is"] == belongs_to
        told = [note for note in report.all_notes if "of another mean" in note]
        assert bool(told) == (belongs_to == "pooled_prompts" and mean == UNWEIGHTED)
