"""A run, a prompt in all runs, and one prompt of a run: rows, and what people are shown
of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.results import Result, Row
from warehouse.tables.text import WIDTH
from warehouse.tables.transcript import ends_with, transcript_lines
from warehouse.tables.view import HangingText, Part, Table, Verbatim, View
from warehouse.tables.words import cell, counted, excerpt, visible

#: Fields of a response that are shown below its texts, where they are known.
_OF_RESPONSE = (
    *(
        "extracted_answer",
        "finish_reason",
        "input_tokens",
        "output_tokens",
        "latency",
        "cost",
        "error",
    ),
    *(
        "n_turns",
        "n_tool_calls",
        "n_tool_errors",
        "limit_hit",
        "cached_tokens",
        "reasoning_tokens",
    ),
)
#: What is shown of a prompt above all else.
_OF_PROMPT = ("text", "target", "choices", "metadata")
#: Characters of a question in the list of a run's prompts.
_EXCERPT = 60


@dataclass(frozen=True)
class PromptRow(Row):
    """One prompt of a run with one metric."""

    prompt_id: int  #: id in the store; names the prompt for ``show RUN PROMPT``.
    key: str  #: natural key.
    occurrence: int  #: which of several items with this key, from 0.
    tool_id: str | None  #: the tool's own id.
    text: str | None  #: the question.
    metric: str  #: name of the metric.
    metric_filter: str  #: filter pipeline of the harness.
    perturbation: str  #: empty for the headline form.
    value: float | None  #: mean over draws; None if no sample was scored.
    n_draws: int  #: generations behind it.
    n_unscored: int  #: samples without a score.


@dataclass(frozen=True)
class RunView(Result):
    """A run and its prompts."""

    run: Mapping[str, Any]  #: columns of ``run_current`` that are set.
    rows: tuple[PromptRow, ...]
    #: the run's row of ``transcript_summary``, the columns that are set; empty without
    #: transcripts.
    transcripts: Mapping[str, Any] = field(default_factory=dict)
    #: its rows of ``tool_use``, most called first.
    tools: tuple[Mapping[str, Any], ...] = ()

    @property
    def one_line(self) -> str:
        prompts = len({row.prompt_id for row in self.rows})
        return (
            f"run:{self.run['run_id']} {self.run['model']} on {self.run['benchmark']}"
            f" ({self.run['status']}, {counted(prompts, 'prompt')})"
        )

    def view(self, *, verbose: bool = False) -> View:
        """The run's settings, what happened on the way, and its prompts.

        Args:
            verbose: keys, hashes and ids too.
        """
        shown = {
            name: value
            for name, value in self.run.items()
            if verbose or _says_something(name, value, self.run)
        }
        parts: list[Part] = [*_verbatim(self.one_line), "", *_fields(shown)]
        if len(shown) < len(self.run):
            parts.append("(keys, hashes and ids: -v)")
        if (
            self.tools
            or self.transcripts.get("mean_turns", 0) > 1
            or self.transcripts.get("n_limited")
        ):
            parts += _on_the_way(self.transcripts, self.tools)
        return View((*parts, "", *_prompts(self.rows)))


@dataclass(frozen=True)
class PromptRunRow(Row):
    """The score of one run on a prompt."""

    run_id: int  #: id of the run.
    model: str  #: name of its model.
    metric: str  #: name of the metric.
    metric_filter: str  #: filter pipeline of the harness.
    perturbation: str  #: empty for the headline form.
    value: float | None  #: mean over draws; None if no sample was scored.
    n_draws: int  #: generations behind it.
    n_unscored: int  #: samples without a score.


@dataclass(frozen=True)
class PromptRuns(Result):
    """A prompt, and what every current run scored on it."""

    benchmark: str  #: name of its benchmark.
    #: question, target, choices (JSON), metadata (JSON), keys.
    prompt: Mapping[str, Any]
    rows: tuple[PromptRunRow, ...]

    @property
    def one_line(self) -> str:
        runs = len({row.run_id for row in self.rows})
        return f"prompt:{self.prompt['id']} of {self.benchmark}, in {runs} runs"

    def view(self, *, verbose: bool = False) -> View:
        """The prompt, and a score of each run."""
        parts: list[Part] = [*_verbatim(self.one_line)]
        for name in _OF_PROMPT:
            parts += _block(name, self.prompt[name])
        cells = [
            {"run": f"run:{row.run_id}", "model": row.model, **_score_cells(row)}
            for row in self.rows
        ]
        hidden = ("filter", "perturbation")
        table = Table.of(
            cells,
            empty="no current run has it",
            hide_empty=hidden,
            counts=("unscored",),
        )
        return View((*parts, "", table))


@dataclass(frozen=True)
class PromptView(Result):
    """One prompt of a run with everything that is stored about it; as a frame, its
    responses."""

    run: Mapping[str, Any]  #: columns of ``run_current`` that are set.
    #: question, target, choices (JSON), metadata (JSON), keys.
    prompt: Mapping[str, Any]
    #: one per perturbation, few-shot draw and draw: prompt as sent, response, extracted
    #: answer, tokens, error, the grader's explanation; turns, calls of tools, limit and
    #: messages (JSON) where the dump has a transcript.
    responses: tuple[Mapping[str, Any], ...]
    #: one per perturbation, draw and metric: value, status, raw text, scorer.
    scores: tuple[Mapping[str, Any], ...]
    choices: tuple[Mapping[str, Any], ...]  #: log-likelihood of each option, in nats.
    #: one per thing that a scanner found in a response, or part of it that it looked
    #: at: label, value, raw text, scan.
    findings: tuple[Mapping[str, Any], ...] = ()

    @property
    def one_line(self) -> str:
        name = self.prompt["tool_id"] or self.prompt["key"][:12]
        responses = "1 response"
        if len(self.responses) != 1:
            responses = f"{len(self.responses)} responses"
        scores = "1 score"
        if len(self.scores) != 1:
            scores = f"{len(self.scores)} scores"
        return f"run:{self.run['run_id']} prompt {name}: {responses}, {scores}"

    def view(
        self, *, verbose: bool = False, full: bool = False, width: int = WIDTH
    ) -> View:
        """The prompt, each response with its transcript, and all scores.

        Args:
            full: every message of a transcript to its end.
            width: characters of a line of transcripts.
        """
        parts: list[Part] = [*_verbatim(self.one_line)]
        for name in _OF_PROMPT:
            parts += _block(name, self.prompt[name])
        for response in self.responses:
            parts += _response(response, full, width)
        parts += _table("scores", self.scores)
        parts += _table("choices", self.choices)
        parts += _table("found by scanners", self.findings)
        return View(tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    def records(self) -> list[dict[str, Any]]:
        """The responses, a dictionary each."""
        return [dict(response) for response in self.responses]


def _prompts(prompts: Sequence[PromptRow]) -> list[Part]:
    """The prompts of a run; a metric and a filter that all have stand above them."""
    questions = distinctive([row.text for row in prompts])
    rows = [
        {
            "prompt": row.tool_id or row.prompt_id,
            "key": row.key[:12],
            "question": excerpt(question, _EXCERPT),
            **_score_cells(row),
        }
        for row, question in zip(prompts, questions, strict=True)
    ]
    parts: list[Part] = []
    for name in ("metric", "filter"):
        if (
            len(rows) > 1
            and len({row[name] for row in rows}) == 1
            and (name == "metric" or prompts[0].metric_filter)
        ):
            if rows[0][name] != "":
                parts.append(f"{name}: {rows[0][name]}")
            for row in rows:
                del row[name]
    table = Table.of(
        rows,
        empty="no samples: published figures only",
        hide_empty=("filter", "perturbation"),
        counts=("unscored",),
        minor=("key",),
    )
    return [*parts, table]


def _score_cells(row: PromptRow | PromptRunRow) -> dict[str, Any]:
    return {
        "metric": row.metric,
        "filter": row.metric_filter,
        "perturbation": row.perturbation,
        "value": row.value,
        "draws": row.n_draws,
        "unscored": row.n_unscored,
    }


def _on_the_way(
    summary: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]
) -> list[Part]:
    """Means over transcripts and calls of tools, where more happened than one answer."""
    means = {
        "messages": "mean_messages",
        "turns": "mean_turns",
        "tool calls": "mean_tool_calls",
    }
    said = [
        f"{summary[name]:.1f} {title}"
        for title, name in means.items()
        if name in summary
    ]
    counts = {"calls failed": "n_tool_errors", "stopped by a limit": "n_limited"}
    said += [
        f"{summary[name]} {title}"
        for title, name in counts.items()
        if summary.get(name)
    ]
    n = summary["n_transcripts"]
    of = "1 transcript"
    if n != 1:
        of = f"{n} transcripts"
    parts: list[Part] = ["", f"on the way, means over {of}: {', '.join(said)}"]
    if not tools:
        return parts
    columns = {
        "tool": "tool",
        "generations": "n_generations",
        "calls": "n_calls",
        "errors": "n_errors",
    }
    rows = []
    for row in tools:
        rows.append({title: row[name] for title, name in columns.items()})
    return [*parts, "", Table.of(rows, empty="", hide_empty=("errors",))]


def _says_something(name: str, value: object, run: Mapping[str, Any]) -> bool:
    """True if a field of a run is for people: no id, key or hash, and no recorded name
    that is the shown one."""
    if name.endswith("_recorded"):
        return bool(value != run.get(name.removesuffix("_recorded")))
    return name == "run_id" or not name.endswith(("_id", "_key", "_hash"))


def _response(response: Mapping[str, Any], full: bool, width: int) -> list[Part]:
    """One draw: its transcript or the prompt as sent, the response, the grader's
    explanation, and fields."""
    variant = {
        name: response[name] for name in ("perturbation", "fewshot_draw", "template")
    }
    given = [f"{name} {value}" for name, value in variant.items() if value]
    described = ", ".join(given)
    title = ", ".join(filter(None, (f"draw {response['draw']}", described)))
    parts: list[Part] = []
    if response["messages"]:  # which hold the prompt as it was sent
        lines = transcript_lines(response["messages"], whole=full, width=width)
        parts += [
            "",
            Verbatim(f"--- transcript, {title}"),
            *map(Verbatim, map(visible, lines)),
        ]
    else:
        parts += _block(f"prompt sent, {title}", response["prompt_sent"])
    if not (
        response["messages"]
        and ends_with(response["messages"], response["response"] or "")
    ):
        parts += _block(f"response, {title}", response["response"])
    parts += _block(f"explanation, {title}", response["explanation"])
    return [
        *parts,
        *_fields(
            {
                name: response[name]
                for name in _OF_RESPONSE
                if response[name] is not None
            }
        ),
    ]


def _block(title: str, text: str | None) -> list[Part]:
    """A text below its title; nothing without a text."""
    if text:
        return ["", *_verbatim(f"--- {title}"), *_verbatim(_conversation(text))]
    return []


def _verbatim(text: str) -> Iterable[Verbatim]:
    """Lines of a text of a dump, as they are."""
    return map(Verbatim, visible(text).split("\n"))


def _conversation(text: str) -> str:
    """Messages as people read them, each below its role; any other text as it is."""
    if not text.startswith('[{"'):
        return text
    try:
        messages = json.loads(text)
    except ValueError:
        return text
    if not all(
        isinstance(message, dict) and {*message} == {"role", "content"}
        for message in messages
    ):
        return text
    if not all(isinstance(message["content"], str) for message in messages):
        return text
    return "\n".join(
        f"[{message['role']}]\n{message['content'].strip()}" for message in messages
    )


def _fields(values: Mapping[str, Any]) -> list[Part]:
    """Names and values, below each other."""
    width = max((len(name) for name in values), default=0)
    return [
        HangingText.of(name.ljust(width), cell(value)) for name, value in values.items()
    ]


def _table(title: str, rows: tuple[Mapping[str, Any], ...]) -> list[Part]:
    """Rows below their title, without empty columns; nothing without rows."""
    if not rows:
        return []
    return [
        "",
        f"--- {title}",
        Table.of(rows, hide_empty=tuple(rows[0]), counts=("draw", "n_unscored")),
    ]
