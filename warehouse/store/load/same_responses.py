"""Runs of one condition whose responses are all the same and whose scores are not: two
scorers, no two draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warehouse.errors import ConflictError
from warehouse.store.connection import Store
from warehouse.store.load.decisions import Decision
from warehouse.store.load.state import _Load
from warehouse.store.sql.query_files import query_text


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
    found: dict[int, int] = {}
    for row in store.rows(query_text("ingest", "same_responses"), {"run_ids": asked}):
        found.setdefault(row["run_id"], row["other_id"])
    for run in looked_at:
        other = found.get(run_ids[run])
        if other is None:
            continue
        header = state.dump.runs[run]
        raise ConflictError(
            f"all responses of {header.model} on {header.benchmark} are those of run "
            f"{other}, and its scores are not",
            path=next(part.source.path for part in state.parts if run in part.runs),
            expected="the scores of one scorer, or other responses",
            advice="two ways to score are two figures: say which in [scorer] of a mapping (a group (?P<scorer>…) of its"
            " [path] pattern will do) or in a column scorer; --set run_id=NAME takes "
            "them for two executions",
        )
