"""Ranges of scores: bounds that nobody states, and scales that are mixed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.scores import ENOUGH, PromptScores
from warehouse.records.score_span import MIXED, ScoreSpan

_PERCENT = (0.0, 100.0)


def unstated_bounds(
    scored: Iterable[tuple[str, Metric, PromptScores]],
) -> Iterator[str]:
    """A remark on each metric whose scores are two values only, or reach from 0 to
    100: intervals that know no bounds lie beyond them.

    Args:
        scored: name of the benchmark, metric and scores of each condition.
    """
    found: dict[tuple[str, str], list[PromptScores]] = {}
    for benchmark, metric, scores in scored:
        if metric.bounds is None and metric.link == "identity" and scores.n:
            found.setdefault((benchmark, metric.label), []).append(scores)
    for (benchmark, label), conditions in found.items():
        values = np.unique(np.concatenate([scores.values for scores in conditions]))
        ends = (float(values[0]), float(values[-1]))
        few = sum(scores.n for scores in conditions) < ENOUGH
        if (
            few
            or not (len(values) == 2 or ends == _PERCENT)
            or are_mixed(scores.spans for scores in conditions)
        ):
            continue
        what = "scores lie between {:g} and {:g}"
        if len(values) == 2:
            what = "only {:g} and {:g} occur"
        low, high = (f"{end:.12g}" for end in ends)
        yield (
            f"{label}: {what.format(*ends)}, and nobody has said that there are no "
            "others; this says so, and intervals keep within: warehouse fix metric "
            f"{shlex.quote(benchmark)} --metric {shlex.quote(label)} --bounds "
            f"{low} {high}"
        )


def are_mixed(conditions: Iterable[Sequence[ScoreSpan]]) -> bool:
    """True where the scores of some runs look like shares of 1, those of others like
    per cent."""
    return {*MIXED} <= {span.scale for span in chain.from_iterable(conditions)}


def mixed_scales(
    scored: Iterable[tuple[str, Metric, Sequence[ScoreSpan]]],
) -> Iterator[str]:
    """A note on each metric that is :func:`are_mixed`.

    Args:
        scored: name of the benchmark, metric and spans of each condition.
    """
    found: dict[tuple[str, str], list[Sequence[ScoreSpan]]] = {}
    for benchmark, metric, spans in scored:
        if metric.link == "identity" and spans:
            found.setdefault((benchmark, metric.label), []).append(spans)
    for (benchmark, label), conditions in found.items():
        if are_mixed(conditions):
            yield _mixed(benchmark, label, conditions)


def _mixed(
    benchmark: str, label: str, conditions: Sequence[Sequence[ScoreSpan]]
) -> str:
    # repeats of one condition: its figure is of both
    pooled = any(are_mixed([spans]) for spans in conditions)
    counted = conditions
    if pooled:
        counted = [[span] for span in chain.from_iterable(conditions)]
    spans = chain.from_iterable(conditions)
    percents = [span for span in spans if span.scale == "percent"]
    scales: Counter[str] = Counter()
    for own in counted:
        scales.update({span.scale for span in own})
    n_shares, n_percents = (scales[scale] for scale in MIXED)
    low = min(span.low for span in percents)
    high = max(span.high for span in percents)
    what = "conditions"
    if pooled:
        what = "runs"
    return (
        f"{label} on {benchmark}: {n_shares} of {len(counted)} {what} have scores from "
        f"0 to 1, {n_percents} from {low:g} to {high:g}: if these are per cent, "
        "nothing here compares them; `warehouse fix forget` their source, and ingest it "
        "with a mapping that has `scale = 0.01` for the score"
    )
