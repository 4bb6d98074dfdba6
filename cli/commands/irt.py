"""``irt``: item response models over benchmarks and harnesses."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.irt.question import (
    Abilities,
    Dimensions,
    FitItems,
    ItemResponse,
    NextItems,
    PublishedScale,
)
from warehouse.questions.question import options

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import (
    Function,
    first_rows,
    option,
    output_options,
    refuse_typed,
    top_option,
    typed,
)
from ..ui.output import Output
from ..ui.questions import level_option, options_of, seed_option
from ..ui.table import echo, print_view

if TYPE_CHECKING:
    from warehouse.analysis.irt.answer import Irt


def irt_options(function: Function, without: tuple[str, ...] = ()) -> Function:
    """Which answers, which model, and whether a stored answer will do."""
    return options_of(ItemResponse, without=without)(
        seed_option(output_options(function))
    )


def asked_of(values: dict[str, Any]) -> ItemResponse:
    """The model that the common options mean; takes them out of ``values``."""
    given = {name: values.pop(name) for name in options(ItemResponse) if name in values}
    return ItemResponse(**given)


def model_of(state: State, question: ItemResponse) -> Irt:
    """The model, which reads nothing yet."""
    model: Irt = question.ask(state.opener())
    return model


def families(text: str | None) -> str | dict[str, str] | None:
    """A field of runs, or the families that a file gives (InputError: not such a file)."""
    if text is None or not text.lower().endswith(".csv"):
        return text
    import csv

    from warehouse.errors import InputError, refuse_unknown

    expected = "the columns model and family"
    try:
        with Path(text).open(newline="", encoding="utf-8-sig") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(str(error), path=text, expected=expected) from None
    if not rows or not {"model", "family"} <= set(rows[0]):
        raise InputError(
            f"columns {', '.join(map(str, rows[0])) if rows else '(no rows)'}",
            path=text,
            expected=expected,
        )
    refuse_unknown(rows[0], ("model", "family"), text)
    return {
        row["model"]: row["family"] for row in rows if row["model"] and row["family"]
    }


@command("irt fit")
@options_of(FitItems, without=("seed",))
@top_option("Prompts in each table", 10)
@irt_options
def fit(
    state: State, /, output: Output, family: str | None, top: int, **values: Any
) -> None:
    question = asked_of(values)
    report = model_of(state, question).fit(family=families(family), **values)
    output.give(
        report,
        lambda: print_view(state.view_of(partial(report.view, top=top))),
        records=first_rows(report.rows, top, output),
    )
    state.notes(report.notes)
    say_next(state, output, report, question)


@command("irt ability")
@options_of(Abilities, only=("sensitivity", "family", "level"))
@irt_options
def ability(
    state: State,
    /,
    output: Output,
    sensitivity: bool,
    family: str | None,
    **values: Any,
) -> None:
    if family is not None and not sensitivity:
        raise click.UsageError("--family goes with --sensitivity")
    question = asked_of(values)
    model = model_of(state, question)
    report = model.abilities(sensitivity=sensitivity, family=families(family), **values)
    part = "rows"
    if sensitivity:
        part = "sensitivity"
    output.give(
        report,
        lambda: print_view(
            state.view_of(partial(report.view, sensitivity=sensitivity))
        ),
        part=part,
    )
    state.notes(report.notes)
    say_next(state, output, report, question)


@command("irt next")
@options_of(NextItems, without=("level", "seed"))
@option(
    "--ids",
    "Only the ids of the prompts in their dump, one a line, in order.",
    is_flag=True,
)
@level_option
@irt_options
def next_(state: State, /, output: Output, ids: bool, **values: Any) -> None:
    from warehouse.analysis.subsets.exchange import ids_text

    if ids and not output.for_people:
        raise click.UsageError("give one of --ids, --json, --csv and --parquet")
    if ids:
        refuse_typed("is for intervals, and --ids prints none", "level")
    question = asked_of(values)
    report = model_of(state, question).next_items(**values)
    view = state.view_of(report.view)
    if ids:
        echo(ids_text([row.key for row in report.rows]), nl=False)
    else:
        output.give(report, lambda: print_view(view))
        state.notes(view.notes)
        say_next(state, output, report, (question, NextItems(**values)))
        return
    state.notes(view.notes)


@command("irt scale")
@option(
    "--by-benchmark",
    "The benchmarks in place of the models: difficulty, slope, residual.",
    is_flag=True,
)
@top_option("Models in the table", 20)
@options_of(PublishedScale)
@output_options
def scale(
    state: State, /, output: Output, by_benchmark: bool, top: int, **values: Any
) -> None:
    if by_benchmark and values["predict"] is not None:
        raise click.UsageError(
            "give one of --by-benchmark and --predict: each is a table of its own"
        )
    if by_benchmark or values["predict"] is not None:
        refuse_typed("is for the table of models", "top")
    question = PublishedScale.from_command(values, typed(values))
    report = state.ask(question)
    if by_benchmark:
        part = "benchmarks"
    elif values["predict"] is None:
        part = "rows"
    else:
        part = "predictions"
    records = None
    if part == "rows":
        records = first_rows(report.rows, top, output)
    output.give(
        report,
        lambda: print_view(
            state.view_of(partial(report.view, top=top, by_benchmark=by_benchmark))
        ),
        part=part,
        records=records,
    )
    state.notes(report.left_out)
    if not by_benchmark:
        say_next(state, output, report, question)


@command("irt dimensions")
@options_of(Dimensions, without=("seed",))
@partial(irt_options, without=("model",))
def dimensions(state: State, /, output: Output, **values: Any) -> None:
    question = asked_of(values)
    report = model_of(state, question).dimensions(**values)
    output.give(report, lambda: print_view(state.view_of(report.view)))
    state.notes(report.notes)
    say_next(state, output, report, question)
