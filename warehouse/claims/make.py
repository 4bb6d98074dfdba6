"""Make a claim of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from warehouse.claims.bundle import Claim
from warehouse.claims.evidence import clusterings_behind, runs_behind, sources_behind
from warehouse.claims.questions import ask
from warehouse.store.connection import Store


def make_claim(store: Store, kind: str, parameters: Mapping[str, Any], *, command: str) -> Claim:
    """The answer of a store to a question, with what it rests on.

    Args:
        store: where it is asked; for ``query`` one that can neither write nor reach files.
        kind: ``leaderboard``, ``compare``, ``pairs``, ``variance`` or ``query``.
        parameters: of the question; see :func:`warehouse.claims.questions.accepted`.
        command: what was typed; it is to ask the same.

    Raises:
        WarehouseError: as the question itself.
    """
    answer = ask(store, kind, parameters)
    runs = runs_behind(store, answer.run_ids) if answer.run_ids else []
    return Claim(
        command=command,
        kind=kind,
        parameters=dict(parameters),
        program=version("eval-warehouse"),
        answer=answer.words,
        rows=answer.rows,
        runs=runs,
        sources=sources_behind(store, answer.run_ids) if answer.run_ids else [],
        clusterings=clusterings_behind(store, sorted({row["benchmark"] for row in runs})),
    )
