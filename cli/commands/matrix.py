"""``matrix``: what the scores of all models on all prompts of a benchmark say together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from warehouse.analysis.matrix.question import (
    ClusterMatrix,
    CompareParts,
    CorrelationTest,
    GrowMatrix,
    PerformanceMatrix,
    WeightMatrix,
)
from warehouse.questions.question import options as fields_of

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
)
from ..ui.output import Output
from ..ui.questions import options_of, seed_option
from ..ui.table import print_view

if TYPE_CHECKING:
    from warehouse.analysis.matrix.answer import Matrix
    from warehouse.analysis.matrix.cluster_view import MatrixClusters

#: Tables of weights that are shown alone.
Part = Literal["schemes", "random", "pairs"] | None


def matrix_options(function: Function) -> Function:
    """Which matrix, and whether a stored answer will do."""
    stored = ("fresh", "store_result")
    function = options_of(PerformanceMatrix, only=stored)(output_options(function))
    return options_of(PerformanceMatrix, without=stored)(seed_option(function))


def whole_numbers(
    _ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...]:
    """``2,5,10-12`` as numbers."""
    numbers: list[int] = []
    try:
        for part in filter(None, (value or "").split(",")):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
    except ValueError:
        message = f"'{value}'; expected numbers such as 2,5,10-12"
        raise click.BadParameter(message, param=param) from None
    if value and not numbers:
        raise click.BadParameter(f"'{value}' names no number", param=param)
    return tuple(numbers)


@contextmanager
def opened(state: State, label: str, question: PerformanceMatrix) -> Iterator[Matrix]:
    """The matrix of a benchmark, with a bar while something is computed."""
    from ..ui.progress import share

    with share(state.quiet, label) as show:
        advance = None if show is None else lambda done, of: show(done / of)
        yield replace(question, progress=advance).ask(state.opener())


def matrix_of(options: dict[str, Any]) -> PerformanceMatrix:
    """The matrix that the common options mean; takes them out of ``options``."""
    chosen = {
        name: options.pop(name)
        for name in fields_of(PerformanceMatrix)
        if name in options
    }
    return PerformanceMatrix(**chosen)


@command("matrix test")
@options_of(CorrelationTest, without=("seed",))
@option("--histogram", "Shares of pairs by similarity instead.", is_flag=True)
@matrix_options
def test(state: State, /, output: Output, histogram: bool, **options: Any) -> None:
    question = matrix_of(options)
    with opened(state, "permutations", question) as scores:
        result = scores.test(**options)
    part = "rows"
    if histogram:
        part = "histogram"
    output.give(
        result,
        lambda: print_view(state.view_of(partial(result.view, histogram=histogram))),
        part=part,
    )
    state.notes(result.notes)
    say_next(state, output, result, question)


@command("matrix cluster")
@options_of(ClusterMatrix, without=("seed",), n_clusters={"callback": whole_numbers})
@option("--members", "The cluster of every prompt instead.", is_flag=True)
@matrix_options
def cluster(state: State, /, output: Output, members: bool, **options: Any) -> None:
    if not options["store"]:
        refuse_typed("needs --store NAME", "default", "replace")
    if options["store"] and not options["store_result"]:
        raise click.UsageError("give one of --store NAME and --no-store")
    question = matrix_of(options)
    with opened(state, "clusterings", question) as scores:
        result = scores.cluster(**options)
    if members:
        columns = ["prompt", "cluster", "distance", "is_medoid"]
        output.emit(columns, _member_rows(result))
    else:
        output.give(result, lambda: print_view(state.view_of(result.view)))
    if options["store"]:
        state.say(f"stored as {options['store']}: --cluster {options['store']} uses it")
    state.notes(result.notes)
    say_next(state, output, result, question)


def _member_rows(result: MatrixClusters) -> Iterator[dict[str, Any]]:
    """The cluster of every prompt."""
    medoids = set(result.medoids)
    for row, (prompt, label, distance) in enumerate(
        zip(result.prompts, result.labels, result.distances, strict=True)
    ):
        yield {
            "prompt": prompt,
            "cluster": label + 1,
            "distance": distance,
            "is_medoid": row in medoids,
        }


@command("matrix weights")
@options_of(
    WeightMatrix,
    without=("seed",),
    given={"type": click.Path(dir_okay=False, path_type=Path)},
)
@option(
    "--part",
    "Only this; --json and --csv give schemes if nothing is chosen.",
    click.Choice(["schemes", "random", "pairs"]),
)
@matrix_options
def weights(
    state: State, /, output: Output, part: Part, given: Path | None, **options: Any
) -> None:
    if given is None:
        options["given"] = None
    else:
        options["given"] = read_weights(given)
    question = matrix_of(options)
    with opened(state, "random weightings", question) as scores:
        result = scores.weights(**options)
    fields = {"schemes": "rows", "random": "random", "pairs": "outranks"}
    output.give(
        result,
        lambda: print_view(state.view_of(partial(result.view, part=part))),
        part=fields[part or "schemes"],
    )
    state.notes(result.notes)
    say_next(state, output, result, question)


def read_weights(path: Path) -> dict[str, float]:
    """Weights by prompt from a CSV file (InputError: not such a file; names the line)."""
    import csv

    from warehouse.errors import InputError, refuse_unknown

    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(str(error), path=str(path)) from None
    by_prompt: dict[str, float] = {}
    columns = [name for name in reader.fieldnames or () if name]
    if {"prompt", "weight"} <= set(columns):  # else each row is refused
        refuse_unknown(columns, ("prompt", "weight"), str(path))
    for line, row in rows:
        where = f"line {line}"
        if row.get("prompt") is None or row.get("weight") is None:
            raise InputError(
                f"columns {', '.join(map(str, row))}",
                path=str(path),
                place=where,
                expected="the columns prompt and weight",
            )
        if row["prompt"] in by_prompt:
            raise InputError(
                f"prompt {row['prompt']!r} a second time", path=str(path), place=where
            )
        try:
            by_prompt[row["prompt"]] = float(row["weight"])
        except ValueError:
            raise InputError(
                f"weight {row['weight']!r}",
                path=str(path),
                place=where,
                expected="a number",
            ) from None
    if not by_prompt:
        raise InputError(
            "no rows", path=str(path), expected="the columns prompt and weight"
        )
    return by_prompt


@command("matrix grow")
@options_of(GrowMatrix, without=("seed",), sizes={"callback": whole_numbers})
@option("--steps", "One row for each size instead of each model.", is_flag=True)
@matrix_options
def grow(state: State, /, output: Output, steps: bool, **options: Any) -> None:
    if output.for_people:
        refuse_typed(
            "goes with --json, --jsonl, --csv or --parquet: the table has the sizes "
            "anyway",
            "steps",
        )
    question = matrix_of(options)
    with opened(state, "prompts", question) as scores:
        result = scores.grow(**options)
    output.give(
        result,
        lambda: print_view(state.view_of(result.view)),
        part="steps" if steps else "rows",
    )
    state.notes(result.notes)
    say_next(state, output, result, question)


@command("matrix explain")
@options_of(CompareParts, without=("seed", "parts"))
@top_option("Prompts in the table", 10)
@options_of(CompareParts, only=("parts",))
@matrix_options
def explain(
    state: State, /, output: Output, top: int, parts: tuple[str, ...], **options: Any
) -> None:
    question = matrix_of(options)
    if len(set(parts)) > 1:
        refuse_typed("goes with one --part: several are compared by their tests", "top")
        with opened(state, "permutations", question) as scores:
            compared = scores.explain_parts(parts=parts, **options)
        output.give(compared, lambda: print_view(state.view_of(compared.view)))
        return state.notes(compared.notes)
    with opened(state, "permutations", question) as scores:
        result = scores.explain(part=parts[0], **options)
    output.give(
        result,
        lambda: print_view(state.view_of(partial(result.view, top=top))),
        records=first_rows(result.rows, top, output),
    )
    state.notes(result.notes)
    say_next(state, output, result, question)
