"""Do runs of one condition score equal responses alike? If not, they are no draws of
one another: two scorers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Run
from warehouse.stats.rows.repeats import (
    DETERMINISTIC,
    JUDGE,
    EqualResponses,
    equal_responses,
)
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Generations of the runs of a row above which their texts are not held against one
#: another.
MOST_GENERATIONS = 200_000
#: Prompts that runs score otherwise below which they cannot have two scorers.
FEWEST_DIFFERING = 3
#: Scores that differ by no more are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SameAnswers:
    """Two runs that share responses, and how these are scored."""

    runs: tuple[int, int]  #: ids, the first of the condition before the other.
    metric_id: int  #: by which they are scored.
    found: EqualResponses  #: how many are equal, and scored otherwise.


#: Different texts of a run that are no letters of options.
_FEWEST_TEXTS = 20


def read_same_answers(
    store: Store, runs: Collection[Run], metrics: Sequence[Metric]
) -> list[SameAnswers]:
    """Each later run of some conditions, held against the first of its condition, by
    each metric.

    Nothing where there are too many generations to be held against one another, and of
    a lake, which has no texts.
    """
    n_generations = sum(run["n_generations"] or 0 for run in runs)
    if (
        store.dialect.is_lake
        or not metrics
        or not 0 < n_generations <= MOST_GENERATIONS
    ):
        return []
    scorers = {
        metric.id: JUDGE if metric.judge_model else DETERMINISTIC for metric in metrics
    }
    parameters = {
        "run_ids": [run["run_id"] for run in runs],
        "metric_ids": sorted(scorers),
    }
    rows = store.rows(query_text("analysis/selection", "equal_responses"), parameters)
    by_run = {
        key: _telling(own)
        for key, own in grouped(rows, itemgetter("run_id", "metric_id")).items()
    }
    answers: list[SameAnswers] = []
    for members in grouped(runs, itemgetter("condition_key")).values():
        ids = sorted(run["run_id"] for run in members)
        for metric_id, scorer in scorers.items():
            first = by_run.get((ids[0], metric_id), {})
            for other in ids[1:]:
                found = _held_together(
                    first, by_run.get((other, metric_id), {}), scorer
                )
                answers.append(SameAnswers((ids[0], other), metric_id, found))
    return answers


#: Value of each response that counts, by prompt, variant, hash of the text and, of
#: agents, of the transcript.
_Answers = dict[tuple[Any, ...], float]


def _telling(rows: Sequence[Mapping[str, Any]]) -> _Answers:
    """The responses of a run that tell how it was scored."""
    uses = Counter(row["response_hash"] for row in rows)
    telling: _Answers = {}
    for row in rows:
        text = row["short_text"]
        if text is not None and not text.strip():
            continue
        is_letter = text is not None and (
            uses[row["response_hash"]] > 1 or len(uses) < _FEWEST_TEXTS
        )
        if is_letter and not row["has_target"]:
            continue
        transcript = row["messages_hash"]
        if row["talked"] is not None and transcript is None:
            continue
        telling[
            row["prompt_id"], row["variant_id"], row["response_hash"], transcript
        ] = row["value"]
    return telling


def _held_together(first: _Answers, other: _Answers, scorer: str) -> EqualResponses:
    both = first.keys() & other.keys()
    n_up = sum(first[key] - other[key] > _ROUNDING for key in both)
    n_down = sum(other[key] - first[key] > _ROUNDING for key in both)
    return equal_responses(
        len(both), n_up + n_down, scorer=scorer, n_up=n_up, n_down=n_down
    )


def scored_differently(answers: Sequence[SameAnswers], model: str) -> str:
    """A note on two scorers of the same responses; empty where there is but one."""
    split = [own for own in answers if own.found.scored_differently]
    if not split:
        return ""
    worst = max(split, key=lambda own: own.found.share or 0.0)
    first, other = worst.runs
    more = ""
    if len(split) > 1:
        more = f", and {len(split) - 1} more runs"
    return (
        f"{model}: runs {first} and {other} score {worst.found.n_differ} of "
        f"{worst.found.n_equal} equal responses differently{more}: two scorers of the "
        "same responses, no draws of one another"
    )


def a_few_scored_differently(answers: Sequence[SameAnswers], model: str) -> str:
    """A note on equal responses with other scores that are no second scorer's; empty
    where there are none."""
    few = [
        own
        for own in answers
        if own.found.n_differ and not own.found.scored_differently
    ]
    if not few:
        return ""
    worst = max(few, key=lambda own: own.found.share or 0.0)
    first, other = worst.runs
    more = ""
    if len(few) > 1:
        more = f", and {len(few) - 1} more runs"
    is_judge = worst.found.p_value is not None
    why = "how often the judge changes its mind"
    if not is_judge:
        why = "too few for two scorers, though one rule scores equal responses alike"
    return (
        f"{model}: runs {first} and {other} score {worst.found.n_differ} of "
        f"{worst.found.n_equal} equal responses differently "
        f"({worst.found.share:.2g}){more}: {why}"
    )
