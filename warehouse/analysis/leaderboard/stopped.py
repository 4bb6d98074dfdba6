"""The figure of a run that was ended early because of its scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.analysis.selection.scored_conditions import ScoredCondition
from warehouse.errors import StatisticsError
from warehouse.stats import design_one_model, sequential_test

#: The flag of such a row.
STOPPED = "stopped_early"


@dataclass(frozen=True)
class StoppedEstimate:
    """Mean score so far, with an interval that holds whenever one stops.

    Attributes:
        estimate: mean of the scored prompts that count; too far out on average.
        standard_error: None: there is none for a random number of prompts.
        ci_low: lower end of the betting interval; None where the rule is not known.
        ci_high: upper end.
        method: ``"sequential betting"``.
    """

    estimate: float
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    method: str = "sequential betting"


def stopped_estimate(entry: ScoredCondition, level: float) -> tuple[StoppedEstimate | None, str]:
    """The figure of an entry that was ended early, and how it was made or why there is no interval."""
    stopped, scores = entry.stopped, entry.scores
    if stopped is None or scores is None or not scores.n or entry.metric.link == "none":
        return None, entry.why_none
    record, mean = stopped.record, float(np.average(scores.values, weights=scores.weights))
    why = f"stopped early by {record.name}"
    order, bounds = stopped.order, entry.metric.bounds
    if order is None or record.n_max is None or bounds is None or scores.uneven_weights is not None:
        return StoppedEstimate(mean, None, None, None), f"{why}: no interval for a fixed number of prompts holds"
    prompts = order.prompts[: record.n_prompts]
    places = np.minimum(np.searchsorted(scores.prompts, prompts), scores.n - 1)
    values = np.where(scores.prompts[places] == prompts, scores.values[places], np.nan)
    low, high = bounds
    try:
        design = design_one_model(
            ((low or 0.0) + (high or 0.0)) / 2,
            n_max=record.n_max,
            bounds=bounds,
            population=record.population,
            alpha=1 - level,
        )
        test = sequential_test(values, design)
    except StatisticsError as error:
        return StoppedEstimate(mean, None, None, None), f"{why}: {error}"
    if test.estimate is None:
        return StoppedEstimate(mean, None, None, None), f"{why} before a prompt was scored"
    reason = f"{why}: the interval holds whenever one stops; warehouse gate --sequential has the verdict"
    return StoppedEstimate(test.estimate, None, test.low, test.high), reason
