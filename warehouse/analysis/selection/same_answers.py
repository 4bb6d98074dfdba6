"""Do runs of one condition score equal responses alike? If not, they are no draws of one another: two scorers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.conditions import Run
from warehouse.stats.rows.repeats import DETERMINISTIC, JUDGE, EqualResponses, equal_responses
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Generations of the runs of a row above which their texts are not held against one another.
MOST_GENERATIONS = 200_000
#: Prompts that runs score otherwise below which they cannot have two scorers.
FEWEST_DIFFERING = 3


@dataclass(frozen=True)
class SameAnswers:
    """Two runs that share responses, and how these are scored."""

    runs: tuple[int, int]  #: ids, the first of the condition before the other.
    metric_id: int  #: by which they are scored.
    found: EqualResponses  #: how many are equal, and scored otherwise.


def read_same_answers(store: Store, runs: Collection[Run], metrics: Sequence[Metric]) -> list[SameAnswers]:
    """Of the runs of some conditions each later one with the first of its condition, by each metric.

    Nothing where there are too many generations to be held against one another, and of a lake, which has no texts.
    """
    n_generations = sum(run["n_generations"] or 0 for run in runs)
    if store.dialect.is_lake or not metrics or not 0 < n_generations <= MOST_GENERATIONS:
        return []
    scorers = {metric.id: JUDGE if metric.judge_model else DETERMINISTIC for metric in metrics}
    parameters = {"run_ids": [run["run_id"] for run in runs], "metric_ids": sorted(scorers)}
    answers: list[SameAnswers] = []
    for row in store.rows(query_text("analysis", "equal_responses"), parameters):
        n_differ, n_up = int(row["n_differ"]), int(row["n_up"])
        found = equal_responses(
            int(row["n_equal"]), n_differ, scorer=scorers[row["metric_id"]], n_up=n_up, n_down=n_differ - n_up
        )
        answers.append(SameAnswers((row["run_id"], row["other_id"]), row["metric_id"], found))
    return answers


def scored_differently(answers: Sequence[SameAnswers], model: str) -> str:
    """What two scorers of the same responses are said to be; empty where there is but one."""
    split = [own for own in answers if own.found.scored_differently]
    if not split:
        return ""
    worst = max(split, key=lambda own: own.found.share or 0.0)
    first, other = worst.runs
    more = f", and {len(split) - 1} more runs" if len(split) > 1 else ""
    return (
        f"{model}: runs {first} and {other} score {worst.found.n_differ} of {worst.found.n_equal} equal responses"
        f" differently{more}: two scorers of the same responses, no draws of one another"
    )
