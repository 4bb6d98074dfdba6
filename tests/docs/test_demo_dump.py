"""The dumps that the project ships for its demonstration."""

from __future__ import annotations

import runpy
from collections import defaultdict
from pathlib import Path

import pytest
from scipy import stats

from tests.support.lm_eval import claimed, take
from warehouse.records import RunHeader
from warehouse.store.load.run_keys import condition_key

DEMO = Path(__file__).parents[2] / "docs" / "demo"
RESULTS = DEMO / "results"


def headers() -> list[RunHeader]:
    return [run for source in claimed(RESULTS) for run in take(*source.files).dump.runs]


def means(benchmark: str, metric: str) -> dict[str, list[float]]:
    """Mean score of each prompt, by model; the prompts are in the same order."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for source in claimed(RESULTS):
        taken = take(*source.files)
        if benchmark not in {run.benchmark for run in taken.dump.runs}:
            continue
        for (prompt, _, name, _), value in taken.scores(benchmark).items():
            if name == metric:
                found[taken.run(benchmark).model][prompt].append(value)
    return {
        model: [sum(values) / len(values) for _, values in sorted(prompts.items())]
        for model, prompts in found.items()
    }


def test_the_generator_writes_what_is_shipped(tmp_path: Path) -> None:
    runpy.run_path(str(DEMO / "make_results.py"))["main"](tmp_path)
    written = {
        path.relative_to(tmp_path): path.read_bytes()
        for path in tmp_path.rglob("*.json*")
    }
    shipped = {
        path.relative_to(RESULTS): path.read_bytes()
        for path in RESULTS.rglob("*.json*")
    }
    assert written == shipped, "run: python docs/demo/make_results.py"
    assert sum(map(len, shipped.values())) < 600_000


def test_runs_of_one_model_are_repeats_of_one_condition() -> None:
    sums = [run for run in headers() if run.benchmark == "sums"]
    assert len(sums) == 6
    assert (
        len({condition_key(run) for run in sums})
        == len({run.model for run in sums})
        == 2
    )
    assert len({run.run_id for run in sums if run.model == "model-a"}) == 3
    assert {run.sampling_seed for run in sums} == {101, 202, 303}


def test_published_figures_come_out_of_the_samples() -> None:
    for source in claimed(RESULTS):
        taken = take(*source.files)
        for run in taken.dump.runs:
            for score in run.published:
                got = taken.mean(run.benchmark, score.metric, score.filter)
                assert got == pytest.approx(score.value, rel=1e-12)


def test_one_difference_is_clear_and_the_other_is_not() -> None:
    sums, reading = means("sums", "exact_match"), means("reading", "acc")
    assert stats.ttest_rel(sums["model-a"], sums["model-b"]).pvalue < 1e-3
    assert stats.ttest_rel(reading["model-a"], reading["model-b"]).pvalue > 0.1
