"""Runs of one condition, or rows of one prompt, whose responses are the same and whose
scores are not: two scorers, no two draws."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any

from warehouse.errors import ConflictError
from warehouse.records import RunHeader
from warehouse.store.connection import Store
from warehouse.store.load.decisions import Decision
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load
from warehouse.store.sql.query_files import query_text

#: Share of responses that are the same, from which on rows or runs are of one answer (as
#: in `same_draws.sql` and `same_responses.sql`).
NEARLY_ALL = 0.95
#: What to do about it.
SCORERS = (
    "two ways to score are two figures: say which in [scorer] of a mapping (a group"
    " (?P<scorer>…) of its [path] pattern will do) or in a column scorer"
)


def is_scored_by_people(headers: Iterable[RunHeader]) -> bool:
    """True if people gave all scores of some runs."""
    return _all_scored_by(headers, {"human"})


def _all_scored_by(headers: Iterable[RunHeader], kinds: Collection[str]) -> bool:
    """True if scorers of some kinds gave all scores; of metrics that no header
    describes nobody knows."""
    metrics = list(chain.from_iterable(header.metrics for header in headers))
    return bool(metrics) and all(metric.scorer_kind in kinds for metric in metrics)


def refuse_scorers_as_draws(scratch: Scratch, state: _Load) -> None:
    """Look at rows of one prompt that were numbered as draws, as nothing else tells
    them apart.

    Args:
        scratch: with the facts of the load.
        state: the load.

    Raises:
        ConflictError: they have one response, and several scores.
    """
    is_numbered = any(
        part.dump.same_content and part.dump.same_content.are_draws
        for part in state.parts
    )
    kinds = {"human"}  # what several people say of one answer are draws
    if state.options.on_duplicate == "draws":
        kinds.add("model")  # and so is what a judge says each time, by a person's word
    elif not is_numbered:
        return
    asked = query_text("ingest", "same_draws")
    for run, n_prompts, n_same, first, last in scratch.rows(asked):
        header = state.dump.runs[run]
        if _all_scored_by([header], kinds):
            continue
        raise ConflictError(
            f"in {n_same} of {n_prompts} prompts of {header.benchmark} with several rows"
            f" of {header.model} their responses are the same, and their scores are not;"
            f" first: rows {first + 1} and {last + 1} of the source",
            path=next(part.source.path for part in state.parts if run in part.runs),
            expected="one row for each prompt and scorer, or other responses",
            advice=f"{SCORERS}; where they are draws all the same, map their number: "
            "[sample] draw",
        )


def refuse_other_scores(
    store: Store,
    state: _Load,
    decisions: Iterable[Decision],
    run_ids: Mapping[int, int],
) -> None:
    """Look at the repeats that nothing tells apart but their scores.

    Args:
        store: which holds the facts of the load already.
        state: the load.
        decisions: what becomes of each run.
        run_ids: ids of the new runs, by their number.

    Raises:
        ConflictError: the responses of one are those of a run that is stored.
    """
    looked_at = []
    for decision in decisions:
        is_repeat = decision.repeat and decision.run_key is None
        if is_repeat and decision.run in state.measured:
            looked_at.append(decision.run)
    if not looked_at:
        return
    asked = [run_ids[run] for run in looked_at]  # at once: a load may have thousands
    found: dict[int, Any] = {}
    for row in store.rows(query_text("ingest", "same_responses"), {"run_ids": asked}):
        found.setdefault(row["run_id"], row)
    for run in looked_at:
        alike = found.get(run_ids[run])
        header = state.dump.runs[run]
        if alike is None or is_scored_by_people([header]):
            continue
        if not alike["is_all"] and _all_scored_by([header], {"human", "model"}):
            continue  # a judge may say something else of the same the next time
        raise ConflictError(
            f"all responses of {header.model} on {header.benchmark}, or nearly all, are"
            f" those of run {alike['other_id']}, and its scores are not",
            path=next(part.source.path for part in state.parts if run in part.runs),
            expected="the scores of one scorer, or other responses",
            advice=f"{SCORERS}; --set run_id=NAME takes them for two executions",
        )
