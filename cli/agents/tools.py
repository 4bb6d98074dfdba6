"""The tools: what each takes, asks of the store, and answers with. All of them only read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from warehouse.errors import MisuseError
from warehouse.questions.comparison import Compare, ReleaseGate
from warehouse.questions.items import Show
from warehouse.questions.leaderboard import AnyLeaderboard
from warehouse.questions.power import PowerFromRuns
from warehouse.questions.question import Question
from warehouse.records.json_text import columns_of
from warehouse.store.engines import Limits, shown_text

from ..commands.compare import OF_FIGURES
from ..commands.query import columns_of_query, queries
from ..state import State
from .pages import LEAST, MOST, SIZE, TEXT, Answered, Paging, one_of

#: Columns that a page has where nobody chose, by the class of the rows.
BRIEF = {
    "LeaderboardRow": "benchmark rank model condition metric estimate standard_error ci_low ci_high n_prompts group"
    " run_ids flags",
    "SuiteRow": "rank model condition estimate standard_error ci_low ci_high n_leaves n_missing group flags",
    "ComparisonRow": "benchmark metric model_a condition_a model_b condition_b mean_a mean_b difference standard_error"
    " ci_low ci_high p_value p_holm better equivalent n_prompts flags reason",
    "Flip": "benchmark prompt_id tool_id difference score_a score_b text target response_a response_b choice_a"
    " choice_b run_a run_b",
    "GateRow": "benchmark split metric verdict candidate baseline difference low margin p_pass p_fail n_prompts"
    " prompts_if_equal prompts_as_seen reason overall",
    "PowerRow": "role n k_a k_b generations power mde delta flags",
    "PromptRow": "prompt_id tool_id metric value n_draws text",
}
#: Characters of a statement, beyond which the command takes it from standard input.
LONG = 1_000
#: What every tool takes besides.
PAGING: dict[str, dict[str, Any]] = {
    "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Rows to pass over: next_offset."},
    "max_bytes": {
        **{"type": "integer", "minimum": LEAST, "maximum": MOST, "default": SIZE},
        "description": "Size of the answer.",
    },
    "text_length": {
        **{"type": "integer", "minimum": 20, "default": TEXT},
        "description": "Characters of a text; what is beyond is cut.",
    },
    "columns": {
        **{"type": "array", "items": {"type": "string"}, "default": []},
        "description": 'Columns of the rows; default: the most telling; ["*"]: all.',
    },
}
QUERY: dict[str, dict[str, Any]] = {
    "name": {"type": ["string", "null"], "default": None, "description": "A view or library query; see describe."},
    "sql": {
        **{"type": ["string", "null"], "default": None},
        "description": "Instead: one SELECT over the views; :name in it are parameters.",
    },
    "parameters": {"type": "object", "default": {}, "description": "Values of parameters, by name, as texts."},
}
DESCRIBE: dict[str, dict[str, Any]] = {
    "what": {
        **{"type": "string", "enum": ["benchmarks", "models", "metrics", "views"], "default": "benchmarks"},
        "description": "metrics: of the benchmark that name says; views: all, or the columns of the one it says.",
    },
    "name": {"type": ["string", "null"], "default": None, "description": "A benchmark, or a view."},
}


@dataclass(frozen=True)
class Context:
    """What a tool works with: the store, and what a query may take."""

    state: State
    limits: Limits

    def line(self, *words: str) -> str:
        """A command line on this store."""
        store = [] if self.state.db is None else ["--db", shown_text(self.state.db)]
        return shlex.join(["warehouse", *store, *words])


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        description: when it is the one to use.
        schema: of what it takes, without paging.
        answer: what it finds.
    """

    description: str
    schema: Mapping[str, Any]
    answer: Callable[..., Answered]

    def input_schema(self) -> dict[str, Any]:
        """What it takes, as a JSON Schema."""
        return {**self.schema, "properties": {**self.schema["properties"], **PAGING}}

    def read(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Paging]:
        """The arguments of the question, and which page.

        Raises:
            MisuseError: an unknown argument, one that is missing, or a page that cannot be.
        """
        known = self.input_schema()["properties"]
        for name in arguments:
            if name not in known:
                raise MisuseError(f"no argument {name!r}; {one_of(name, known)}")
        for name in self.schema.get("required", ()):
            if name not in arguments:
                raise MisuseError(f"{name} is missing: {known[name]['description']}")
        paging = {name: arguments[name] for name in PAGING if name in arguments}
        for name, value in paging.items():
            _require(name, value, PAGING[name])
        return {name: value for name, value in arguments.items() if name not in PAGING}, Paging(**paging)


def _require(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    """Refuse what says which page, where it is of another type or size."""
    if schema["type"] == "array":
        good, expected = isinstance(value, list) and all(isinstance(one, str) for one in value), "a list of names"
    else:
        least, most = schema["minimum"], schema.get("maximum", 10**9)
        good, expected = type(value) is int and least <= value <= most, f"a whole number from {least} to {most}"
    if not good:
        raise MisuseError(f"{name} is {value!r}; expected {expected}")


def _asked(kind: type[Question], context: Context, **values: Any) -> Answered:
    """The answer to a question of the library."""
    question = kind(**values)
    if isinstance(question, Compare) and question.flips:
        question.refuse("changes none of these rows, which are those of flips", *OF_FIGURES)
    with context.state.open() as store:
        result = question.ask(store)
    columns, rows, brief = _rows(question, result)
    sentence = str(getattr(result, "sentence", "") or result.one_line)
    if isinstance(question, Compare):
        sentence = f"of {question.a} (a) and {question.b} (b): {sentence}"
    left_out = [f"left out: {reason}" for reason in getattr(result, "left_out", ())]
    notes = [*getattr(result, "notes", ()), *left_out]

    def command(*more: str) -> str:
        return f"{context.line()}{question.command(*more).removeprefix('warehouse')}"

    return Answered(sentence.rstrip("."), columns, rows, command, brief, notes)


def _rows(question: Question, result: Any) -> tuple[Sequence[str], list[dict[str, Any]], Sequence[str]]:
    """Columns, rows, and the columns to show, as the command has them with ``--json``."""
    from warehouse.analysis.comparison.row import Flip
    from warehouse.analysis.items.show import PromptRow, PromptRunRow, PromptRuns, PromptView

    if isinstance(result, PromptView):
        row = result.to_dict()
        return list(row), [row], [name for name in row if name != "run"]
    if isinstance(question, Show):
        kind: type = PromptRunRow if isinstance(result, PromptRuns) else PromptRow
        records = result.rows
    elif isinstance(question, Compare) and question.flips:
        kind, records = Flip, result.flips
    else:
        kind, records = result.ROW, result.rows
    return *_records(kind, records), BRIEF.get(kind.__name__, "").split()


def _records(kind: type, records: Sequence[Any]) -> tuple[Sequence[str], list[dict[str, Any]]]:
    columns = columns_of(kind)
    return columns, [{name: getattr(record, name) for name in columns} for record in records]


def _query(
    context: Context, *, name: str | None = None, sql: str | None = None, parameters: Mapping[str, Any] | None = None
) -> Answered:
    """A view, a library query, or one SELECT, on a connection that can neither write nor reach out."""
    from warehouse.store.sql.run_query import is_name, run_query, run_sql

    if (name is None) == (sql is None):
        raise MisuseError("give the name of a query, or sql")
    if not all(isinstance(value, str | None) for value in (name, sql)) or not isinstance(parameters or {}, Mapping):
        raise MisuseError("name and sql are texts, parameters an object")
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in (parameters or {}).items()}
    typed = sql is not None or not is_name(name or "")
    with context.state.open(guarded=True, limits=context.limits, typed=typed) as store:
        table = run_query(store, name or "", values) if sql is None else run_sql(store, sql, values)
    asked = [name] if name is not None else [f"--sql={sql if len(sql or '') <= LONG else '-'}"]
    given = [word for key, value in values.items() for word in ("-p", f"{key}={value}")]
    said = "1 row" if table.num_rows == 1 else f"{table.num_rows} rows"
    return Answered(said, table.column_names, table, partial(context.line, "query", *asked, *given))


def _describe(context: Context, *, what: str = "benchmarks", name: str | None = None) -> Answered:
    """What the store holds, and what its views are made of."""
    if what not in DESCRIBE["what"]["enum"]:
        raise MisuseError(f"unknown what {what!r}; there are: {', '.join(DESCRIBE['what']['enum'])}")
    if what == "views":
        columns, rows = queries() if name is None else columns_of_query(name)
        said = f"{len(rows)} views and library queries" if name is None else f"{name} has {len(rows)} columns"
        words = ["query"] if name is None else ["query", name, "--describe"]
        return Answered(said, columns, rows, partial(context.line, *words), columns[:4])
    if what == "metrics":
        if name is None:
            raise MisuseError("metrics are of a benchmark; name it")
        return _metrics(context, name)
    if name is not None:
        raise MisuseError(f"name goes with metrics and views; leave it out: {what} are all listed")
    return _models(context) if what == "models" else _benchmarks(context)


def _metrics(context: Context, name: str) -> Answered:
    from warehouse.store.curate import headline_metric

    with context.state.open() as store:
        entries = headline_metric.metrics(store, name)
    headline = next((entry.metric for entry in entries if entry.is_headline), "none")
    said = f"{name} has {len(entries)} metrics, its headline metric is {headline}"
    line = partial(context.line, "benchmarks", "metrics", name)
    return Answered(said, *_records(headline_metric.MetricEntry, entries), line)


def _models(context: Context) -> Answered:
    from warehouse.store.curate import aliases

    with context.state.open() as store:
        entries = aliases.models(store)
    columns = [item.name for item in fields(aliases.ModelEntry)]
    brief = [name for name in columns if any(getattr(entry, name) is not None for entry in entries)]
    rows = _records(aliases.ModelEntry, entries)[1]
    return Answered(f"{len(entries)} models", columns, rows, partial(context.line, "models"), brief)


def _benchmarks(context: Context) -> Answered:
    answered = _query(context, name="benchmark_overview")
    counts = [(row["n_runs"], row["benchmark"]) for row in answered.since(0)]
    largest = f", most on {max(counts)[1]}" if counts else ""
    said = f"{len(counts)} benchmarks with {sum(n for n, _ in counts)} current runs{largest}"
    return Answered(said, answered.columns, answered.rows, answered.command)


def _question(kind: type[Question], description: str) -> Tool:
    schema = {
        name: value for name, value in kind.json_schema().items() if name not in ("$schema", "title", "description")
    }
    return Tool(description, schema, partial(_asked, kind))


def _own(properties: Mapping[str, Any], description: str, answer: Callable[..., Answered]) -> Tool:
    return Tool(description, {"type": "object", "properties": properties, "additionalProperties": False}, answer)


TOOLS = {
    "describe": _own(
        DESCRIBE, "What is in the store: benchmarks, models, metrics, views and their columns.", _describe
    ),
    "leaderboard": _question(
        AnyLeaderboard, "Models on a benchmark or suite, best first, with intervals; who cannot be told apart."
    ),
    "compare": _question(
        Compare, "The paired difference of two models, with its test; flips lists prompts on which they differ."
    ),
    "gate": _question(
        ReleaseGate, "May a candidate take the place of a baseline, losing less than a margin? pass, fail, undecided."
    ),
    "plan": _question(
        PowerFromRuns, "How many prompts it takes to find a difference (delta), or what n prompts find, by stored runs."
    ),
    "samples": _question(
        Show, "The prompts of a run; one prompt of it with responses, scores and messages; or a prompt in all runs."
    ),
    "query": _own(QUERY, "Rows of a view, a library query, or one SELECT of your own; nothing can be changed.", _query),
}
