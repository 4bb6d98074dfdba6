"""``card``: every figure of a model for people, for the Hub, and in the format Every
Eval Ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.card.question import Card
from warehouse.files import CARD, write_output
from warehouse.tables.words import some_of

from ..lazy_group import command
from ..state import State
from ..ui.options import assignments, option, output_options_but, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import chosen_columns, echo

if TYPE_CHECKING:
    from warehouse.analysis.card.answer import ModelCard
    from warehouse.store.connection import Store

FORMATS = {
    "markdown": "tables for people",
    "hf": "the model-index of a model card of the Hugging Face Hub",
    "hf-results": "a file of its .eval_results/",
    "eee": "Every Eval Ever",
}


@command("card")
@options_of(Card)
@option(
    "--format",
    "; ".join(f"{name}: {text}" for name, text in FORMATS.items()) + ".",
    click.Choice(list(FORMATS)),
    "markdown",
    name="form",
)
@option("-o --out FILE", "Write it there, not to the terminal.", OutputFile(CARD))
@option(
    "--dataset BENCHMARK=OWNER/NAME[:TASK]",
    "With hf and hf-results: the data set of the Hub, where the dump does not name it. "
    "Repeatable.",
    name="datasets",
    multiple=True,
)
@output_options_but("markdown", "latex", "html")
def card(
    state: State,
    /,
    form: str,
    out: Path | None,
    datasets: tuple[str, ...],
    output: Output,
    **fields: Any,
) -> None:
    if not output.for_people and (form != "markdown" or out):
        raise click.UsageError(
            "--format and --out are for cards; rows come by --json, --jsonl, --csv or "
            "--parquet"
        )
    if form != "markdown" and fields["against"] is not None:
        raise click.UsageError(
            f"--against adds differences, for which --format {form} has no place; "
            "leave out one"
        )
    if datasets and not form.startswith("hf"):
        raise click.UsageError("--dataset goes with --format hf or hf-results")
    question = Card.from_command(fields, typed(fields))
    with state.open() as store:
        made: ModelCard = question.ask(store)
        text, notes = "", list(made.notes)
        if output.for_people:
            text, more = _text(
                store, made, question, form, assignments(datasets, "--dataset")
            )
            notes += more
    if not output.for_people:
        output.emit_records(made.kind_of(), made.rows)
    elif out is None:
        echo(text, nl=False)
    else:
        write_output(
            out, text.encode("utf-8", "backslashreplace"), CARD, force=forced()
        )
        state.say(f"wrote {out}: {made.one_line}")
    state.notes(notes)


def _text(
    store: Store, made: ModelCard, question: Card, form: str, given: dict[str, str]
) -> tuple[str, list[str]]:
    """The card in a format, and what is to be said of it."""
    from importlib.metadata import version

    by, rows = (
        f"eval-warehouse {version('eval-warehouse')}: {question.command()}",
        made.records(),
    )
    if form == "markdown":
        return _markdown(made, f"Made by {by}"), []
    figures = [row for row in rows if row["estimate"] is not None]
    notes = (
        [f"{len(rows) - len(figures)} rows without a figure are left out"]
        if len(figures) < len(rows)
        else []
    )
    if form == "eee":
        from time import time

        from warehouse.interchange.every_eval_ever_results import card_documents

        documents = card_documents(store, figures, time())
        several = len(documents) > 1
        if several:
            notes.append(
                f"{len(documents)} evaluations, one a line: the format keeps each in a "
                "file of its own"
            )
        written = (
            json.dumps(document, indent=None if several else 2, ensure_ascii=False)
            for document in documents
        )
        return "".join(f"{text}\n" for text in written), notes
    from warehouse.interchange import hugging_face

    datasets = hugging_face.datasets_of(store, figures) | hugging_face.named_datasets(
        given
    )
    if form == "hf":
        return hugging_face.model_index(made.model, figures, datasets, by), notes
    lacking = sorted({row["benchmark"] for row in figures} - datasets.keys())
    if lacking:
        notes.append(
            "left out, as no data set of the Hub is known (--dataset NAME=OWNER/NAME): "
            f"{some_of(lacking)}"
        )
    return hugging_face.eval_results(figures, datasets, by), notes


def _markdown(made: ModelCard, by: str) -> str:
    """The card, of its tables the columns that were chosen."""
    from warehouse.tables.markup import in_markdown
    from warehouse.tables.view import Table, View

    parts = []
    for part in made.view().parts:
        if isinstance(part, Table):
            part = part.only(chosen_columns(part.columns))
        parts.append(part)
    return (
        f"## Evaluation of {in_markdown(View((made.model,)))}\n"
        f"{in_markdown(View((*parts, by)))}"
    )
