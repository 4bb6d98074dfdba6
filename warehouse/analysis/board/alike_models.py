"""Models of a store whose samples are right and wrong on the same prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.board.store_figures import StoredMean
from warehouse.stats.board.alike import alike_pairs
from warehouse.stats.core.inputs import FloatArray
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Models of a benchmark below and above which they are not held against one another, and
#: scores of it above which they are not read.
_FEWEST, _MOST, _MOST_SCORES = 6, 200, 4_000_000


@dataclass(frozen=True)
class AlikeModels:
    """Two models that are too alike on a benchmark."""

    first: str  #: name of the one.
    second: str  #: name of the other.
    n: int  #: prompts that all models have.
    n_differing: int  #: those that only one of the two has right.
    expected: float  #: how many these would be.
    z: float  #: how far that is from what is expected.


def read_alike(
    store: Store, means: Mapping[tuple[str, str], Sequence[StoredMean]]
) -> dict[str, list[AlikeModels]]:
    """The pairs of each benchmark: of a model its first run that is right or wrong by the
    headline metric.

    Args:
        means: of samples, by model and benchmark.
    """
    runs: dict[str, dict[str, StoredMean]] = {}
    for (model, benchmark), own in means.items():
        for mean in own:
            if mean.is_headline and mean.is_binary:
                runs.setdefault(benchmark, {}).setdefault(model, mean)
    found: dict[str, list[AlikeModels]] = {}
    for benchmark, by_model in runs.items():
        n_scores = sum(mean.samples.n for mean in by_model.values())
        if _FEWEST <= len(by_model) <= _MOST and n_scores <= _MOST_SCORES:
            found[benchmark] = _of_benchmark(store, by_model)
    return found


def _of_benchmark(store: Store, runs: Mapping[str, StoredMean]) -> list[AlikeModels]:
    scores = _common_scores(store, list(runs.values()))
    if scores is None:
        return []
    names = list(runs)
    return [
        AlikeModels(
            names[pair.first],
            names[pair.second],
            pair.n,
            pair.n_differing,
            pair.expected,
            pair.z,
        )
        for pair in alike_pairs(scores)
    ]


def _common_scores(store: Store, means: Sequence[StoredMean]) -> FloatArray | None:
    """Scores of the prompts that all runs have, a row a run; None where there are
    none."""
    parameters = {
        "run_ids": sorted({mean.run_id for mean in means}),
        "metric_ids": sorted({mean.metric_id for mean in means}),
    }
    table = store.columns(query_text("analysis/board", "right_and_wrong"), parameters)
    runs, prompts = table.whole_numbers("run_id"), table.whole_numbers("prompt_id")
    values = table.numbers("value")
    common: set[int] | None = None
    by_run: dict[int, dict[int, float]] = {}
    for mean in means:
        own = runs == mean.run_id
        by_run[mean.run_id] = dict(
            zip(prompts[own].tolist(), values[own].tolist(), strict=True)
        )
        keys = set(by_run[mean.run_id])
        common = keys if common is None else common & keys
    if not common:
        return None
    order = sorted(common)
    rows = [[by_run[mean.run_id][prompt] for prompt in order] for mean in means]
    return np.array(rows)
