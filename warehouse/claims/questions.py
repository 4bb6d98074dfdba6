"""What can be claimed, what its figure rests on, and the claim made of an answer."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

from warehouse.analysis.card.question import Card
from warehouse.analysis.compare.question import Compare
from warehouse.analysis.frontier.question import Frontier
from warehouse.analysis.horizon.question import TimeHorizon
from warehouse.analysis.judge.question import (
    CorrectedComparison,
    CorrectedLeaderboard,
    HeldAgainstPeople,
)
from warehouse.analysis.pairs.question import AllPairs
from warehouse.analysis.prefer.question import Prefer
from warehouse.analysis.results import RUN_COLUMNS, run_ids_in
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.analysis.variance.question import Variance
from warehouse.claims.bundle import MOST_ROWS, Claim
from warehouse.claims.declared import declared_behind
from warehouse.errors import MisuseError
from warehouse.questions import registry
from warehouse.questions.question import Question, options
from warehouse.store.connection import Store
from warehouse.store.schema.recomputed import require_proven
from warehouse.store.sql.bind_parameters import bare_text
from warehouse.store.sql.query_files import query_text

QUERY, STORED = "query", "stored"
#: End of the name of a question whose command is asked with ``--corrected``.
CORRECTED = " --corrected"
_QUESTIONS: Mapping[str, type[Question]] = {
    "leaderboard": AnyLeaderboard,
    "compare": Compare,
    "pairs": AllPairs,
    "frontier": Frontier,
    "variance": Variance,
    "card": Card,
    "horizon": TimeHorizon,
    "prefer": Prefer,
    "judge": HeldAgainstPeople,
    f"leaderboard{CORRECTED}": CorrectedLeaderboard,
    f"compare{CORRECTED}": CorrectedComparison,
}
#: Columns that hold ids of a store, which another store has not.
LOCAL = RUN_COLUMNS | {"prompt_id"}
#: A column of rows in rows, the most of which are columns of their own.
_NESTED = "figures"
#: Parameters that a claim cannot have, as they name no figures.
_LEFT_OUT = {"flips", "with_flags", "single_draws", "weights"}
#: The largest numbers that a claim may ask for.
_NUMBERS = {"equivalence", "margin"}
_BRACKET_OR_ORDER = re.compile(r"[()]|\border\s+by\b", re.IGNORECASE)
_LIMITS = {"n_resamples": 100_000, "seed": 2**32}


@dataclass(frozen=True)
class ClaimedRows:
    """An answer as rows of plain values, in words, and what is behind it."""

    rows: list[dict[str, Any]]
    words: str
    run_ids: tuple[int, ...] = ()
    source_ids: tuple[int, ...] = ()  #: those of votes, which are of no run.


def kinds() -> tuple[str, ...]:
    """Names of the questions."""
    return (*_QUESTIONS, QUERY, *registry.added_names())


def _class_of(kind: str) -> type[Question]:
    """The class of a question.

    Raises:
        MisuseError: no such question.
        WarehouseError: that of another package does not load.
    """
    if kind in _QUESTIONS:
        return _QUESTIONS[kind]
    if kind not in registry.added_names():
        raise MisuseError(
            f"nothing can be claimed of {kind!r}; there are: {', '.join(kinds())}"
        )
    return registry.question_of(kind)


def accepted(kind: str) -> dict[str, Any]:
    """Parameters of a question with their defaults (``inspect.Parameter.empty``: it
    needs one).

    Raises:
        MisuseError: no such question.
    """
    if kind == QUERY:
        return {"sql": inspect.Parameter.empty}
    declared = options(_class_of(kind))
    return {
        name: option.default
        for name, option in declared.items()
        if name not in _LEFT_OUT
    }


def checked(kind: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that the question may be asked with.

    Raises:
        MisuseError: an unknown question or parameter, or a value that is none of it.
    """
    defaults = accepted(kind)
    for name, value in parameters.items():
        if name not in defaults:
            raise MisuseError(
                f"a claim on {kind} has no {name!r}; it has: "
                f"{', '.join(sorted(defaults))}"
            )
        # a claim goes to others, who have no such file
        if name == "prices" and value != STORED:
            raise MisuseError(
                "a claim takes the prices of the store: warehouse fix prices FILE, then "
                "--prices stored"
            )
        if not _fits(name, value, defaults[name]):
            raise MisuseError(
                f"{name} of a claim on {kind} is {f'{value!r}'[:80]}; expected another "
                "kind of value"
            )
    missing = [
        name
        for name, usual in defaults.items()
        if usual is inspect.Parameter.empty and name not in parameters
    ]
    if missing:
        raise MisuseError(f"a claim on {kind} needs {missing[0]!r}")
    return {name: _without_lists(value) for name, value in parameters.items()}


def _without_lists(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return value


def _fits(name: str, value: Any, usual: Any) -> bool:
    """Whether a value is of the kind that a parameter has, and within bounds."""
    if isinstance(usual, bool):
        return isinstance(value, bool)
    if isinstance(usual, int | float) or name in _NUMBERS:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not abs(value) <= _LIMITS.get(name, 1e9):
            return False
        return not isinstance(usual, int) or bool(value == int(value))
    if isinstance(usual, tuple):
        kind: Any = str
        if usual:
            kind = type(usual[0])
        is_list = isinstance(value, list | tuple)
        return is_list and all(isinstance(part, kind) for part in value)
    return isinstance(value, str)


def ask(store: Store, kind: str, parameters: Mapping[str, Any]) -> ClaimedRows:
    """The answer that a store gives (WarehouseError: as the question itself).

    Args:
        store: for a query one that can neither write nor reach files.
        kind: name of the question.
        parameters: those of :func:`accepted`.
    """
    given = checked(kind, parameters)
    if kind == QUERY:
        from warehouse.store.sql.run_query import run_sql

        table = run_sql(store, given["sql"], {})
        if table.num_rows > MOST_ROWS:
            raise MisuseError(
                f"the query gives {table.num_rows} rows; a claim has {MOST_ROWS} at "
                "most"
            )
        rows = [_plain(row) for row in table.to_pylist()]
        if not _is_ordered(given["sql"]):
            rows.sort(key=_sort_key)
        return ClaimedRows(rows, f"{len(rows)} rows")
    result = _result(store, kind, given)
    rows = [
        row.to_dict() for row in (*result.rows, *getattr(result, "differences", ()))
    ]
    if getattr(result, "overall", None) is not None:
        rows.append(result.overall.to_dict())
    ids = {*getattr(result, "run_ids", ()), *run_ids_in(rows)}
    sources = getattr(result, "source_ids", ())
    if rows and not ids and not sources:
        raise MisuseError(
            f"the answer to {kind} does not say on which runs it rests (`run_ids` of "
            "its result, or of its rows): nothing can be claimed of it"
        )
    return ClaimedRows(
        [_plain(row) for row in rows], result.one_line, tuple(sorted(ids)), sources
    )


def _is_ordered(sql: str) -> bool:
    """Whether a statement says in which order its rows stand: outside of brackets."""
    depth = 0
    for sign in _BRACKET_OR_ORDER.finditer(bare_text(sql)):
        depth += {"(": 1, ")": -1}.get(sign.group(), 0)
        if depth == 0 and sign.group() not in "()":
            return True
    return False


def _sort_key(row: Mapping[str, Any]) -> list[str]:
    """Where a row stands among those of a query without an order: the same on every
    engine and machine."""
    words = []
    for value in row.values():
        if isinstance(value, float):
            words.append(f"{value:.6g}")
        else:
            words.append(f"{value}")
    return words


def _result(store: Store, kind: str, given: dict[str, Any]) -> Any:
    question = _class_of(kind)(**given)
    if isinstance(question, AnyLeaderboard) and question.benchmark is question.group:
        raise MisuseError(
            "a claim is on one benchmark, or on one group (suite); name it"
        )
    return question.ask(store)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns without ids of the store, as JSON holds them."""
    return {
        name: _value(value)
        for name, value in row.items()
        if name not in (*LOCAL, _NESTED)
    }


def _value(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_value(part) for part in value]
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None
    if isinstance(value, str | int | bool | None):
        return value
    return str(value)


def runs_behind(store: Store, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Model, benchmark, keys and hash of the samples of some runs, in an order of their
    own."""
    rows = store.rows(query_text("analysis", "claim_runs"), {"run_ids": run_ids})
    return sorted(rows, key=lambda row: (row["condition_key"], row["content_digest"]))


def sources_behind(
    store: Store,
    run_ids: Sequence[int],
    source_ids: Sequence[int] = (),
    metrics: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Name, format, hash and size of the sources of some runs, of those named, and of
    the scans that gave the runs scores of some metrics; of a path the last part only.
    """
    sources = store.rows(
        query_text("analysis", "claim_sources"),
        {"run_ids": run_ids, "source_ids": source_ids},
    )
    if metrics:
        sources += store.rows(
            query_text("analysis", "claim_scans"),
            {"run_ids": run_ids, "metrics": sorted(metrics)},
        )
    rows = {
        (row["sha256"], row["format"]): row
        | {"path": PurePath(str(row["path"]).replace("\\", "/")).name}
        for row in sources
    }
    return [rows[key] for key in sorted(rows)]


def clusterings_behind(store: Store, benchmarks: Sequence[str]) -> list[dict[str, Any]]:
    """The default clusterings of some benchmarks."""
    stored = store.rows(query_text("analysis", "stored_clusterings"))
    clusterings: list[dict[str, Any]] = []
    for row in stored:
        if row["is_default"] and row["benchmark"] in benchmarks:
            named = {name: row[name] for name in ("benchmark", "name", "kind")}
            clusterings.append(named)
    return clusterings


def make_claim(
    store: Store, kind: str, parameters: Mapping[str, Any], *, command: str
) -> Claim:
    """The answer of a store to a question, with what it rests on (WarehouseError: as
    the question itself).

    The digests, keys and means of these runs are worked out anew; of a query, which may
    rest on any, those of all.

    Raises:
        StoreError: a run is not what it was loaded as.

    Args:
        store: where it is asked; for ``query`` one that can neither write nor reach
            files.
        kind: one of :func:`kinds`.
        parameters: of the question; see :func:`warehouse.claims.questions.accepted`.
        command: what was typed; it is to ask the same.
    """
    answer = ask(store, kind, parameters)
    if kind == QUERY:
        require_proven(store, None)
    elif answer.run_ids:
        require_proven(store, answer.run_ids)
    runs: list[dict[str, Any]] = []
    metrics: set[str] = set()
    if answer.run_ids:
        runs = runs_behind(store, answer.run_ids)
        metrics = {str(row["metric"]) for row in answer.rows if row.get("metric")}
    benchmarks = sorted({row["benchmark"] for row in runs})
    return Claim(
        command=command,
        kind=kind,
        parameters=dict(parameters),
        program=version("eval-warehouse"),
        answer=answer.words,
        rows=answer.rows,
        runs=runs,
        sources=sources_behind(store, answer.run_ids, answer.source_ids, metrics),
        clusterings=clusterings_behind(store, benchmarks),
        declared=declared_behind(store, benchmarks),
    )
