"""``show``: a run, or one prompt of it with everything that is stored about it."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.analysis.items.excerpts import distinctive
from warehouse.questions.items import Show
from warehouse.tables.transcript import ends_with, messages_of

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import cell, echo, excerpt, print_constants, print_hanging, print_rows, print_table, print_text, visible

if TYPE_CHECKING:
    from warehouse.analysis.items.show import PromptRow, PromptRunRow, PromptRuns, PromptView, RunView


#: Fields of a response that are shown below its texts, where they are known.
_OF_RESPONSE = (
    *("extracted_answer", "finish_reason", "input_tokens", "output_tokens", "latency", "cost", "error"),
    *("n_turns", "n_tool_calls", "n_tool_errors", "limit_hit", "cached_tokens", "reasoning_tokens"),
)
#: Characters of a question in the list of a run's prompts.
EXCERPT = 60


@command("show")
@options_of(Show)
@option("--full", "Every message of a transcript to its end; else its first lines.", is_flag=True)
@output_options
def show(state: State, run: str, prompt: str | None, full: bool, output: Output) -> None:
    from warehouse.analysis.items.show import PromptRuns, PromptView

    view: RunView | PromptView | PromptRuns = state.ask(Show(run, prompt))
    if isinstance(view, PromptView):
        if output.for_people:
            _print_prompt(view, full)
        else:
            row = view.to_dict()
            output.emit(list(row), [row])
    elif isinstance(view, PromptRuns):
        output.give(view, lambda: _print_prompt_runs(view))
    elif output.for_people:
        _print_run(view, state.verbose)
        say_next(state, output, view)
    else:
        output.emit_records(view.kind_of(), view.rows)


def _print_run(view: RunView, verbose: bool = False) -> None:
    echo(f"{visible(view.one_line)}\n")
    shown = {name: value for name, value in view.run.items() if verbose or _says_something(name, value, view.run)}
    _print_fields(shown)
    if len(shown) < len(view.run):
        print_text("(keys, hashes and ids: -v)")
    if view.tools or view.transcripts.get("mean_turns", 0) > 1 or view.transcripts.get("n_limited"):
        _print_transcripts(view.transcripts, view.tools)
    echo()
    questions = distinctive([row.text for row in view.rows])
    rows = [
        {
            "prompt": row.tool_id or row.prompt_id,
            "key": row.key[:12],
            "question": excerpt(question, EXCERPT),
            **_score_cells(row),
        }
        for row, question in zip(view.rows, questions, strict=True)
    ]
    if len(rows) > 1:
        rows = print_constants(rows, ("metric", "filter") if rows[0]["filter"] else ("metric",))
    print_rows(
        rows,
        empty="no samples: published figures only",
        hide_empty=("filter", "perturbation"),
        counts=("unscored",),
        minor=("key",),
    )


def _print_transcripts(summary: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> None:
    """What happened on the way, where more did than one answer."""
    means = {"messages": "mean_messages", "turns": "mean_turns", "tool calls": "mean_tool_calls"}
    said = [f"{summary[name]:.1f} {title}" for title, name in means.items() if name in summary]
    counts = {"calls failed": "n_tool_errors", "stopped by a limit": "n_limited"}
    said += [f"{summary[name]} {title}" for title, name in counts.items() if summary.get(name)]
    n = summary["n_transcripts"]
    print_text(f"\non the way, means over {n} transcript{'s' * (n != 1)}: {', '.join(said)}")
    columns = {"tool": "tool", "generations": "n_generations", "calls": "n_calls", "errors": "n_errors"}
    if tools:
        echo()
        rows = [{title: row[name] for title, name in columns.items()} for row in tools]
        print_rows(rows, empty="", hide_empty=("errors",))


def _says_something(name: str, value: object, run: Mapping[str, Any]) -> bool:
    """Whether a field of a run is for people: no id, key or hash, and no recorded name that is the shown one."""
    if name.endswith("_recorded"):
        return bool(value != run.get(name.removesuffix("_recorded")))
    return name == "run_id" or not name.endswith(("_id", "_key", "_hash"))


def _score_cells(row: PromptRow | PromptRunRow) -> dict[str, Any]:
    return {
        "metric": row.metric,
        "filter": row.metric_filter,
        "perturbation": row.perturbation,
        "value": row.value,
        "draws": row.n_draws,
        "unscored": row.n_unscored,
    }


def _print_prompt_runs(view: PromptRuns) -> None:
    echo(visible(view.one_line))
    for name in ("text", "target", "choices", "metadata"):
        _print_block(name, view.prompt[name])
    echo()
    rows = [{"run": f"run:{row.run_id}", "model": row.model, **_score_cells(row)} for row in view.rows]
    print_rows(rows, empty="no current run has it", hide_empty=("filter", "perturbation"), counts=("unscored",))


def _print_prompt(view: PromptView, full: bool = False) -> None:
    echo(visible(view.one_line))
    for name in ("text", "target", "choices", "metadata"):
        _print_block(name, view.prompt[name])
    for response in view.responses:
        _print_response(response, full)
    _print_table("scores", view.scores)
    _print_table("choices", view.choices)
    _print_table("found by scanners", view.findings)


def _print_response(response: Mapping[str, Any], full: bool) -> None:
    variant = {name: response[name] for name in ("perturbation", "fewshot_draw", "template")}
    described = ", ".join(f"{name} {value}" for name, value in variant.items() if value)
    title = f"draw {response['draw']}{', ' if described else ''}{described}"
    if response["messages"]:  # which hold the prompt as it was sent
        echo(f"\n--- transcript, {title}")
        for line in transcript_lines(response["messages"], whole=full):
            echo(visible(line))
    else:
        _print_block(f"prompt sent, {title}", response["prompt_sent"])
    if not (response["messages"] and ends_with(response["messages"], response["response"] or "")):
        _print_block(f"response, {title}", response["response"])
    _print_block(f"explanation, {title}", response["explanation"])
    _print_fields({name: response[name] for name in _OF_RESPONSE if response[name] is not None})


def _print_block(title: str, text: str | None) -> None:
    if text:
        echo(f"\n--- {title}\n{visible(_conversation(text))}")


def _conversation(text: str) -> str:
    """Messages as people read them, each below its role; any other text as it is."""
    if not text.startswith('[{"'):
        return text
    try:
        messages = json.loads(text)
    except ValueError:
        return text
    if not all(isinstance(message, dict) and {*message} == {"role", "content"} for message in messages):
        return text
    if not all(isinstance(message["content"], str) for message in messages):
        return text
    return "\n".join(f"[{message['role']}]\n{message['content'].strip()}" for message in messages)


def _print_fields(values: Mapping[str, Any]) -> None:
    width = max((len(name) for name in values), default=0)
    for name, value in values.items():
        print_hanging(name.ljust(width), cell(value))


def _print_table(title: str, rows: tuple[Mapping[str, Any], ...]) -> None:
    if rows:
        echo(f"\n--- {title}")
        columns = list(rows[0])
        print_table(
            columns,
            [[row[name] for name in columns] for row in rows],
            hide_empty=columns,
            counts=("draw", "n_unscored"),
        )


#: Lines of a message before it is folded.
FOLDED = 12


def transcript_lines(text: str, *, whole: bool) -> Iterator[str]:
    """The lines of a transcript, within the width of the terminal.

    Args:
        text: JSON list of messages, as stored.
        whole: every message to its end; else :data:`FOLDED` lines of each.
    """
    columns = shutil.get_terminal_size().columns
    width = max(20, min(columns, 100) - 2)
    for message in messages_of(text, columns):
        yield f"[{message.title}]"
        lines = [line for part in message.parts for line in _wrapped(part, width)] or ["(nothing)"]
        shown = lines if whole or len(lines) <= FOLDED + 1 else lines[:FOLDED]
        yield from (f"  {line}".rstrip() for line in shown)
        if len(shown) < len(lines):
            yield f"  ... {len(lines) - len(shown)} more lines (--full)"


def _wrapped(text: str, width: int) -> Iterator[str]:
    for line in text.expandtabs(4).splitlines():
        said = line.lstrip()
        indent = line[: min(len(line) - len(said), width // 2)]
        yield from textwrap.wrap(said, width, initial_indent=indent, subsequent_indent=indent) or [""]
