"""The tools: what each takes, asks of the store, and answers with. All of them only
read."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from warehouse.analysis.compare.question import Compare
from warehouse.analysis.gate.question import ReleaseGate
from warehouse.analysis.power.question import PowerFromRuns
from warehouse.analysis.show.question import Show
from warehouse.analysis.suites.question import AnyLeaderboard
from warehouse.errors import MisuseError, did_you_mean
from warehouse.questions.question import (
    Option,
    Options,
    Question,
    fields_schema,
    options,
)
from warehouse.records.canonical_json import columns_of, json_text
from warehouse.store.connection import Store
from warehouse.store.engines import Limits, shown_text
from warehouse.tables.words import MEANINGS

from ..commands.compare import OF_FIGURES
from ..commands.query import columns_of_query, queries
from ..state import State
from ..ui.output import Row, rows_of

if TYPE_CHECKING:
    import pyarrow as pa


#: Columns that a page has where nobody chose, by the class of the rows.
BRIEF = {
    "LeaderboardRow": "benchmark rank model condition metric estimate standard_error ci_low ci_high n_prompts group"
    " run_ids flags",
    "SuiteRow": (
        "rank model condition estimate standard_error ci_low ci_high n_leaves "
        "n_missing group flags"
    ),
    "ComparisonRow": "benchmark metric model_a condition_a model_b condition_b mean_a mean_b difference standard_error"
    " ci_low ci_high p_value p_holm better equivalent n_prompts flags reason",
    "Flip": "benchmark prompt_id tool_id difference score_a score_b text target response_a response_b choice_a"
    " choice_b run_a run_b",
    "GateRow": "benchmark split metric verdict candidate baseline difference low margin p_pass p_fail n_prompts"
    " prompts_if_equal prompts_as_seen flags reason overall",
    "PowerRow": "role n k_a k_b generations power mde delta flags",
    "PromptRow": "prompt_id tool_id metric value n_draws text",
}
#: Characters of a statement, beyond which the command takes it from standard input.
LONG = 1_000


@dataclass(frozen=True, kw_only=True)
class Query(Options):
    """A view, a library query, or a statement."""

    name: Annotated[str | None, Option("A view or library query; see describe.")] = None
    sql: Annotated[
        str | None,
        Option("Instead: one SELECT over the views; :name in it are parameters."),
    ] = None
    parameters: Annotated[
        Mapping[str, Any] | None, Option("Values of parameters, by name, as texts.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Describe(Options):
    """A part of what there is."""

    what: Annotated[
        str,
        Option(
            "metrics: of the benchmark that name says; views: all, or the columns of "
            "the one that name says.",
            choices=("benchmarks", "models", "metrics", "views"),
        ),
    ] = "benchmarks"
    name: Annotated[str | None, Option("A benchmark, or a view.")] = None


@dataclass(frozen=True)
class Context:
    """What a tool works with: the store, and what a query may take."""

    state: State
    limits: Limits
    #: that the call under way has open.
    running: set[Store] = field(default_factory=set)
    children: set[int] = field(default_factory=set)  #: processes of its typed queries.

    @contextmanager
    def open(self, **options: Any) -> Iterator[Store]:
        """The store, for one answer."""
        with self.state.open(**options) as store:
            self.running.add(store)
            try:
                yield store
            finally:
                self.running.discard(store)

    def typed_rows(self, sql: str, values: Mapping[str, Any]) -> pa.Table:
        """The rows of a SELECT that somebody wrote."""
        from warehouse.store.sql.apart import TypedQuery, query_apart

        config = self.state.config()
        query = TypedQuery(
            config.url.value,
            sql,
            values,
            self.limits,
            config.reader.value,
            self.state.wait,
        )
        try:
            return query_apart(query, started=self.children.add)
        finally:
            self.children.clear()

    def interrupt(self) -> None:
        """End the statement that runs on the store."""
        for pid in [*self.children]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for store in [*self.running]:
            with suppress(Exception):  # it ends by itself at this moment
                store.dialect.interrupt(store.connection)

    def line(self, *words: str) -> str:
        """A command line on this store."""
        if self.state.db is None:
            store = []
        else:
            store = ["--db", shown_text(self.state.db)]
        return shlex.join(["warehouse", *store, *words])


class Tool(NamedTuple):
    """One tool: what it takes, when it is the one to use, and what it finds."""

    takes: type[Options]
    description: str
    answer: Callable[[Context, Any], Answered]

    def input_schema(self) -> dict[str, Any]:
        """What it takes, as a JSON Schema."""
        own = fields_schema(self.takes)
        return {
            **own,
            "properties": own["properties"] | fields_schema(Paging)["properties"],
        }

    def read(self, arguments: Mapping[str, Any]) -> tuple[Options, Paging]:
        """What is asked, and which page.

        Raises:
            MisuseError: an unknown argument, one that is missing, or a value that
                cannot be.
        """
        fields, pages = options(self.takes), options(Paging)
        for name in arguments:
            if name not in fields and name not in pages:
                raise MisuseError(
                    f"no argument {name!r}; {suggestion(name, [*fields, *pages])}"
                )
        for name, option in fields.items():
            if option.default is option.empty and name not in arguments:
                raise MisuseError(f"{name} is missing: {option.help}")
        own = {name: arguments[name] for name in fields if name in arguments}
        paging = {name: arguments[name] for name in pages if name in arguments}
        return self.takes(**own), Paging(**paging)


def _answer(context: Context, question: Question) -> Answered:
    """The answer to a question of the library."""
    if isinstance(question, Compare) and question.flips:
        question.refuse(
            "changes none of these rows, which are those of flips", *OF_FIGURES
        )
    with context.open() as store:
        result = question.ask(store)
    sentence = str(getattr(result, "sentence", "") or result.one_line)
    if isinstance(question, Compare):
        sentence = f"of {question.a} (a) and {question.b} (b): {sentence}"
    left_out = [f"left out: {reason}" for reason in getattr(result, "left_out", ())]
    notes = [*getattr(result, "notes", ()), *left_out]

    def command(*more: str) -> str:
        return f"{context.line()}{question.command(*more).removeprefix('warehouse')}"

    return Answered(sentence.rstrip("."), *_rows(question, result), command, notes)


def _rows(
    question: Question, result: Any
) -> tuple[Sequence[str], list[Row], Sequence[str]]:
    """Columns, rows, and the columns to show, as the command has them with ``--json``."""
    from warehouse.analysis.comparison.row import Flip
    from warehouse.analysis.show.view import (
        PromptRow,
        PromptRunRow,
        PromptRuns,
        PromptView,
    )

    if isinstance(result, PromptView):
        row = result.to_dict()
        return list(row), [row], [name for name in row if name != "run"]
    if isinstance(question, Show):
        return _records(
            PromptRunRow if isinstance(result, PromptRuns) else PromptRow, result.rows
        )
    if isinstance(question, Compare) and question.flips:
        return _records(Flip, result.flips)
    return _records(result.kind_of(), result.rows)


def _records(
    kind: type, records: Sequence[Any]
) -> tuple[Sequence[str], list[Row], Sequence[str]]:
    columns = columns_of(kind)
    rows: list[Row] = []
    for record in records:
        rows.append({name: getattr(record, name) for name in columns})
    return columns, rows, BRIEF.get(kind.__name__, "").split()


def _query(context: Context, query: Query) -> Answered:
    """Rows, on a connection that can neither write nor reach out."""
    from warehouse.store.sql.run_query import is_name, run_named

    name, sql = query.name or "", query.sql
    if (query.name is None) == (sql is None):
        raise MisuseError("give the name of a query, or sql")
    given = query.parameters or {}
    if None in given.values():
        raise MisuseError(
            "a parameter cannot be null; leave it out, or write null into the sql"
        )
    values = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in given.items()
    }
    if sql is not None or not is_name(name):
        table = context.typed_rows(sql if sql is not None else name, values)
    else:
        with context.open(guarded=True, limits=context.limits, typed=False) as store:
            table = run_named(store, name.strip(), values)
    argument = name
    if sql is not None:
        argument = f"--sql={sql if len(sql) <= LONG else '-'}"
    parameters = list(
        chain.from_iterable(("-p", f"{key}={value}") for key, value in values.items())
    )
    said = "1 row"
    if table.num_rows != 1:
        said = f"{table.num_rows} rows"
    return Answered(
        said,
        table.column_names,
        table,
        (),
        partial(context.line, "query", argument, *parameters),
    )


def _describe(context: Context, part: Describe) -> Answered:
    """What the store holds, and what its views are made of."""
    if part.what == "views":
        return _views(context, part.name)
    if part.what == "metrics":
        if part.name is None:
            raise MisuseError("metrics are of a benchmark; name it")
        return _metrics(context, part.name)
    if part.name is not None:
        raise MisuseError(
            f"name goes with metrics and views; leave it out: {part.what} are all "
            "listed"
        )
    if part.what == "benchmarks":
        found = _query(context, Query(name="benchmark_overview"))
        runs = sum(row["n_runs"] for row in found.since(0))
        return replace(
            found, verdict=f"{len(found)} benchmarks with {runs} current runs"
        )
    from warehouse.store.curate import aliases

    with context.open() as store:
        entries = aliases.models(store)
    return Answered(
        f"{len(entries)} models",
        *_records(aliases.ModelEntry, entries),
        partial(context.line, "list", "models"),
    )


def _views(context: Context, name: str | None) -> Answered:
    columns, rows = queries() if name is None else columns_of_query(name)
    said = (
        f"{len(rows)} views and library queries"
        if name is None
        else f"{name} has {len(rows)} columns"
    )
    words = ["query"] if name is None else ["query", name, "--describe"]
    return Answered(said, columns, rows, columns[:4], partial(context.line, *words))


def _metrics(context: Context, name: str) -> Answered:
    from warehouse.store.curate import headline_metric

    with context.open() as store:
        entries = headline_metric.metrics(store, name)
    headline = next((entry.metric for entry in entries if entry.is_headline), "none")
    said = f"metrics of {name}: {len(entries)}; its headline metric is {headline}"
    line = partial(context.line, "list", "metrics", name)
    return Answered(said, *_records(headline_metric.MetricEntry, entries), line)


TOOLS = {
    "describe": Tool(
        Describe,
        "What is in the store: benchmarks, models, metrics, views and their columns.",
        _describe,
    ),
    "leaderboard": Tool(
        AnyLeaderboard,
        "Models on a benchmark or suite, best first, with intervals; who cannot be "
        "told apart.",
        _answer,
    ),
    "compare": Tool(
        Compare,
        "The paired difference of two models, with its test; flips: prompts on which "
        "they differ.",
        _answer,
    ),
    "gate": Tool(
        ReleaseGate,
        "May a candidate replace a baseline, losing less than a margin? pass, fail, "
        "undecided.",
        _answer,
    ),
    "plan": Tool(
        PowerFromRuns,
        "Prompts it takes to find a difference (delta), or what n prompts find, by "
        "stored runs.",
        _answer,
    ),
    "samples": Tool(
        Show,
        "The prompts of a run; one prompt of it with responses and scores; or a prompt "
        "in all runs.",
        _answer,
    ),
    "query": Tool(
        Query,
        "Rows of a view, a library query, or one SELECT; nothing can be changed.",
        _query,
    ),
}


#: Bytes of an answer, by default.
SIZE = 4_000
#: Characters of the verdict, notes, and characters of one.
VERDICT, NOTES, NOTE = 800, 4, 200
#: Texts of a row that is too large by itself are cut to ever fewer characters, its
#: lists to ever fewer entries.
CUTS = ((200, 50), (150, 20), (120, 8), (120, 4), (100, 3), (80, 2), (40, 2), (25, 1))


@dataclass(frozen=True)
class Answered:
    """What a tool found."""

    verdict: str  #: the answer in one sentence.
    columns: Sequence[str]  #: of the rows, in order.
    rows: Sequence[Row] | pa.Table  #: a mapping each, or a table.
    brief: Sequence[str]  #: columns to show where nobody chose; empty for all.
    #: makes the line that gives the same rows, with the further options that it is
    #: given.
    command: Callable[..., str]
    notes: Sequence[str] = ()  #: what a reader should know of all rows.

    def __len__(self) -> int:
        return len(self.rows)

    def since(self, offset: int) -> Iterator[Row]:
        """The rows from one on."""
        if isinstance(self.rows, Sequence):
            return islice(self.rows, offset, None)
        return rows_of(self.rows.slice(offset))


@dataclass(frozen=True, kw_only=True)
class Paging(Options):
    """Which part of an answer is asked for."""

    offset: Annotated[
        int, Option("Rows to pass over: next_offset of the page before.", least=0)
    ] = 0
    max_bytes: Annotated[
        int, Option("Size of the answer.", least=2_000, most=200_000)
    ] = SIZE
    text_length: Annotated[
        int, Option("Characters of a text; what is beyond is cut.", least=20)
    ] = 400
    columns: Annotated[
        Sequence[str], Option("Columns of the rows; default: the most telling; *: all.")
    ] = ()

    def chosen(self, answered: Answered) -> list[str]:
        """The columns to show (MisuseError: there is none of such a name)."""
        all_columns = list(answered.columns)
        if not self.columns:
            return [
                name for name in answered.brief if name in all_columns
            ] or all_columns
        if list(self.columns) == ["*"]:
            return all_columns
        for name in self.columns:
            if name not in all_columns:
                raise MisuseError(
                    f"no column {name!r}; {suggestion(name, all_columns)}"
                )
        return list(dict.fromkeys(self.columns))


def suggestion(name: str, names: Collection[str]) -> str:
    """The name that may have been meant, else all that there are, in words."""
    return did_you_mean(name, names, f"there are: {', '.join(names)}")


def page_of(answered: Answered, paging: Paging) -> str:
    """The page as JSON, of at most ``paging.max_bytes`` bytes.

    Raises:
        MisuseError: an unknown column, an offset beyond the last row, or not even one
            row fits.
    """
    if paging.offset and paging.offset >= len(answered):
        raise MisuseError(
            f"offset {paging.offset} is beyond the last of {len(answered)} rows; leave "
            "it out"
        )
    columns = paging.chosen(answered)
    written = partial(_written, answered, columns, paging.offset)
    rows: list[Row] = []
    size = 0
    for row in answered.since(paging.offset):
        rows.append({name: row[name] for name in columns})
        size += len(json_text(_Cutter(paging.text_length)(rows[-1])).encode())
        if size > paging.max_bytes:
            break
    text = written(rows, _Cutter(paging.text_length))
    while len(text.encode()) > paging.max_bytes and len(rows) > 1:
        rows.pop()
        text = written(rows, _Cutter(paging.text_length))
    for length, entries in CUTS:
        if len(text.encode()) <= paging.max_bytes:
            return text
        text = written(rows, _Cutter(min(length, paging.text_length), entries))
    if len(text.encode()) <= paging.max_bytes:
        return text
    raise MisuseError(
        f"one row with its command takes {len(text.encode())} bytes; name fewer "
        "columns, or allow more: max_bytes"
    )


def _written(
    answered: Answered,
    columns: Sequence[str],
    offset: int,
    rows: Sequence[Row],
    cut: _Cutter,
) -> str:
    head = {"verdict": cut.text(answered.verdict, VERDICT), "n_rows": len(answered)}
    objects = ",".join(json_text(cut(row)) for row in rows)
    after = offset + len(rows)
    tail: dict[str, Any] = {"offset": offset} if offset else {}
    if after < len(answered):
        tail |= {"more": len(answered) - after, "next_offset": after}
    all_flags = chain.from_iterable(row.get("flags") or () for row in rows)
    flags = dict.fromkeys(flag for flag in all_flags if flag in MEANINGS)
    tail |= {"flags": {flag: MEANINGS[flag] for flag in flags}} if flags else {}
    notes = [cut.text(note, NOTE) for note in answered.notes[:NOTES]]
    if len(answered.notes) > NOTES:
        notes += [f"{len(answered.notes) - NOTES} more notes: see the command"]
    tail |= {"notes": notes} if notes else {}
    tail |= (
        {"cut": "whole texts and lists: text_length, max_bytes, or the command"}
        if cut.happened
        else {}
    )
    if list(columns) == list(answered.columns):
        only = []
    else:
        only = ["--columns", ",".join(columns)]
    tail["command"] = answered.command("--json", *only)
    return f'{json_text(head)[:-1]},"rows":[{objects}],{json_text(tail)[1:]}'


class _Cutter:
    """Cuts long texts of a value, and its long lists where there is a limit; `happened`
    says whether it had to."""

    def __init__(self, length: int, entries: int | None = None) -> None:
        self.length, self.entries, self.happened = length, entries, False

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value, self.length)
        if isinstance(value, Mapping):
            return {name: self(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            kept = [self(item) for item in value[: self.entries]]
            if len(kept) == len(value):
                return kept
            self.happened = True
            return [*kept, f"[{len(value) - len(kept)} more]"]
        return value

    def text(self, value: str, length: int) -> str:
        if len(value) <= length:
            return value
        self.happened = True
        return f"{value[:length]}... [{len(value) - length} more]"
