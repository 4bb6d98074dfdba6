"""``card``: every figure of a model for people, for the Hub, and in the format Every Eval Ever."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import CARD, CLAIM, write_output
from warehouse.questions.card import Card
from warehouse.questions.question import options

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import assignments, output_options_but, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import echo

if TYPE_CHECKING:
    from warehouse.analysis.card.card import ModelCard
    from warehouse.store.connection import Store

FORMATS = {
    "markdown": "tables for people",
    "hf": "the model-index of a model card of the Hugging Face Hub",
    "hf-results": "a file of its .eval_results/",
    "eee": "Every Eval Ever",
}


@command("card")
@options_of(Card)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="markdown",
    show_default=True,
    help="; ".join(f"{name}: {text}" for name, text in FORMATS.items()) + ".",
)
@click.option("-o", "--out", metavar="FILE", type=OutputFile(CARD), help="Write it there, not to the terminal.")
@click.option(
    "--claim", metavar="FILE", type=OutputFile(CLAIM), help="Write there what others check: warehouse claim verify FILE."
)
@click.option(
    "--dataset",
    "datasets",
    metavar="BENCHMARK=OWNER/NAME[:TASK]",
    multiple=True,
    help="With hf and hf-results: the data set of the Hub, where the dump does not name it. Repeatable.",
)
@output_options_but("markdown", "latex", "html")
@pass_state
def card(
    state: State,
    /,
    form: str,
    out: Path | None,
    claim: Path | None,
    datasets: tuple[str, ...],
    output: Output,
    **fields: Any,
) -> None:
    if not output.for_people and (form != "markdown" or out):
        raise click.UsageError("--format and --out are for cards; rows come by --json, --jsonl, --csv or --parquet")
    if datasets and not form.startswith("hf"):
        raise click.UsageError("--dataset goes with --format hf or hf-results")
    question = Card.from_command(fields, typed(fields))
    with state.open() as store:
        made: ModelCard = question.ask(store)
        text = _text(store, made, question, form, assignments(datasets, "--dataset")) if output.for_people else ""
        if claim is not None:
            size = _write_claim(store, question, claim)
    if not output.for_people:
        output.emit_records(made.ROW, made.rows)
    elif out is None:
        echo(text, nl=False)
    else:
        write_output(out, text.encode("utf-8", "backslashreplace"), CARD, force=forced())
        state.say(f"wrote {out}: {made.one_line}")
    state.notes(made.notes)
    if claim is not None:
        state.say(f"wrote {claim}: {size} bytes; check it with: warehouse claim verify {shlex.quote(str(claim))}")


def _write_claim(store: Store, question: Card, path: Path) -> int:
    """The claim of the card's figures; returns its bytes."""
    from warehouse.claims.bundle import write_claim
    from warehouse.claims.questions import make_claim

    given = {name: getattr(question, name) for name, one in options(Card).items() if getattr(question, name) != one.default}
    parameters = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    asked = question.command().removeprefix("warehouse ")
    return write_claim(make_claim(store, "card", parameters, command=asked), path, force=forced())


def _text(store: Store, made: ModelCard, question: Card, form: str, given: dict[str, str]) -> str:
    from importlib.metadata import version

    program, rows = f"eval-warehouse {version('eval-warehouse')}", made.records()
    if form == "markdown":
        return _markdown(made, f"Made by {program}: {question.command()}")
    if form == "eee":
        from time import time

        from warehouse.interchange.every_eval_ever_results import card_documents

        documents = card_documents(store, rows, time())
        indent = 2 if len(documents) == 1 else None
        return "".join(f"{json.dumps(one, indent=indent, ensure_ascii=False, allow_nan=False)}\n" for one in documents)
    from warehouse.interchange import hugging_face

    datasets = hugging_face.datasets_of(store, rows) | hugging_face.named_datasets(given)
    by = f"{program}: {question.command()}"
    if form == "hf":
        return hugging_face.model_index(made.model, rows, datasets, by)
    return hugging_face.eval_results(rows, datasets, by)


def _markdown(made: ModelCard, by: str) -> str:
    from warehouse.tables.markup import in_markdown
    from warehouse.tables.view import View

    return f"## Evaluation of {in_markdown(View((made.model,)))}\n{in_markdown(View((*made.view().parts, by)))}"
