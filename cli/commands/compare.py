"""``compare``: the paired difference of two models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from warehouse.analysis.compare.question import Compare, CompareUnpaired
from warehouse.tables.words import left_out

from ..lazy_group import command
from ..state import State
from ..ui.corrected import UNUSED, Corrected, corrected_options
from ..ui.next_step import say_next, with_store
from ..ui.options import option, output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.over_settings import OverSettings, over_options
from ..ui.questions import options_of
from ..ui.slices import Sliced, pair_options
from ..ui.table import echo, print_table

if TYPE_CHECKING:
    from warehouse.analysis.compare.answer import Comparison
    from warehouse.analysis.compare.unpaired import UnpairedComparison
    from warehouse.analysis.comparison.row import ComparisonRow, Flip

#: Prompts of each benchmark that ``--flips`` lists.
FLIPS = 10
#: Options of figures, which a list of prompts has none of.
OF_FIGURES = (
    "cluster",
    "level",
    "method",
    "estimand",
    "equivalence",
    "n_resamples",
    "seed",
    "cost",
)
#: Characters of a long text that a table has.
SHORT = 60
#: Where the command keeps the second metric that was named.
SECOND_METRIC = "warehouse.compare.second_metric"


def _first_metric(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> str | None:
    """The metric of both, or of A, where that of B is named after it."""
    if len(value) > 2:
        raise click.BadParameter("one metric, or one of A and one of B", ctx, param)
    if len(value) == 2:
        ctx.meta[SECOND_METRIC] = value[1]
    return next(iter(value), None)


def _second_metric(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    """The metric of B, also where it was the second that --metric named."""
    named = ctx.meta.get(SECOND_METRIC)
    if named is None:
        return value
    if value is not None:
        raise click.BadParameter("--metric names two already", ctx, param)
    ctx.set_parameter_source("second_metric", ParameterSource.COMMANDLINE)
    return str(named)


@command("compare")
@options_of(
    Compare,
    metric={
        "multiple": True,
        "default": None,
        "callback": _first_metric,
        "is_eager": True,
        "help": (
            "Metric, or METRIC,FILTER; default: the headline metric. Twice: that of A "
            "and that of B, where one metric has two names."
        ),
    },
    second_metric={"callback": _second_metric},
    flips={
        "is_flag": False,
        "flag_value": FLIPS,
        "default": None,
        "metavar": "[N]",
        "type": click.IntRange(1),
        "help": (
            f"List the N prompts of each benchmark on which they differ most. [{FLIPS}]"
        ),
    },
)
@option(
    "--overall", "Only the mean over benchmarks.", name="only_overall", is_flag=True
)
@option(
    "--unpaired",
    "For runs that share no prompts, and published figures: each with its own error, "
    "Welch's t (Miller eqs. 5, 6).",
    is_flag=True,
)
@option(
    "--handful",
    "How few questions (clusters, seeds) carry the lead: what would turn it.",
    name="carried_by",
    is_flag=True,
)
@over_options
@pair_options
@corrected_options
@output_options
def compare(
    state: State,
    /,
    output: Output,
    only_overall: bool,
    unpaired: bool,
    carried_by: bool,
    corrected: Corrected | None,
    sliced: Sliced | None,
    show_all: bool,
    over_settings: OverSettings | None,
    **options: Any,
) -> None:
    question = Compare.from_command(
        options | {"flips": options["flips"] or 0}, typed(options)
    )
    if over_settings is not None:
        return over_settings.give_pair(state, output, question)
    if carried_by:
        return _carried_by(state, output, question)
    if corrected is not None:
        refuse_typed(UNUSED, "only_overall", "unpaired", "by", "slope")
        corrected.give(state, output, question)
        return
    if sliced is not None:
        unused = "is of all prompts: leave out it or --by"
        refuse_typed(unused, "only_overall", "unpaired")
        top = 0 if show_all else None
        return sliced.give(state, output, question, top=top)
    if unpaired:
        return _unpaired(state, output, question)
    _paired(state, output, question, only_overall)


def _paired(
    state: State, output: Output, question: Compare, only_overall: bool
) -> None:
    """The comparison on the prompts that both have."""
    if only_overall and question.flips:
        raise click.UsageError("give one of --overall and --flips")
    if question.flips and not output.for_people:
        question.refuse(
            "changes none of these rows, which are those of --flips", *OF_FIGURES
        )
    from warehouse.analysis.comparison.row import Flip

    comparison: Comparison = state.ask(question)
    if output.for_people:
        rows = _shown(comparison, only_overall, both=True)
        state.show(state.view_of(partial(comparison.view_of, rows)))
        if question.flips:
            _print_flips(state, comparison, question.flips)
    elif question.flips:
        output.emit_records(Flip, comparison.flips)
    else:
        output.emit_records(
            comparison.kind_of(), _shown(comparison, only_overall, both=False)
        )
    state.notes(comparison.notes)
    state.notes(left_out(comparison.left_out))
    say_next(state, output, comparison, question)


def _carried_by(state: State, output: Output, question: Compare) -> None:
    """How few questions carry the lead, in place of the comparison."""
    from warehouse.analysis.handful.question import Handful

    unused = "changes nothing of what a lead rests on: leave out it or --handful"
    refuse_typed(unused, "only_overall", "unpaired", "by", "slope", "corrected")
    found = state.ask(question.only(Handful, unused))
    state.give(output, found, lambda: found.view(verbose=state.explains))
    state.notes(found.notes)
    state.notes(left_out(found.left_out))


def _unpaired(state: State, output: Output, asked: Compare) -> None:
    """Each with its own error, in place of the comparison."""
    unused = "needs paired prompts: leave out it or --unpaired"
    refuse_typed(unused, "only_overall")
    question = asked.only(CompareUnpaired, unused)
    comparison: UnpairedComparison = state.ask(question)
    if output.for_people:
        state.show(state.view_of(comparison.view))
    else:
        output.emit_records(comparison.kind_of(), comparison.rows)
    state.notes(left_out(comparison.left_out))
    say_next(state, output, comparison, question)


def _shown(
    comparison: Comparison, only_overall: bool, *, both: bool
) -> list[ComparisonRow]:
    """The rows that were asked for; programs get one row per benchmark, or the overall
    one.

    A single benchmark is its own mean.
    """
    if comparison.overall is None:
        overall = []
    else:
        overall = [comparison.overall]
    if not only_overall:
        return [*comparison.rows, *(overall if both else [])]
    if len(comparison.rows) == 1:
        return list(comparison.rows)
    if not overall:
        raise click.UsageError(
            next(why for why in comparison.left_out if why.startswith("overall"))
        )
    return overall


def _print_flips(state: State, comparison: Comparison, limit: int) -> None:
    """The prompts of each benchmark under a line that says how many there are."""
    from warehouse.analysis.items.excerpts import distinctive

    columns = ["prompt", "a - b", "a", "b", "question", "target", "a said", "b said"]
    for row in comparison.rows:
        flips = [
            flip
            for flip in comparison.flips
            if (flip.benchmark, flip.split) == (row.benchmark, row.split)
        ]
        total = row.higher_a + row.higher_b
        echo(
            "\n"
            f"{row.benchmark}: {total} of {row.n_prompts} prompts differ, a is higher "
            f"on {row.higher_a} and b on {row.higher_b}"
        )
        if not flips:
            continue
        hide_empty = ("question", "target", "a said", "b said")
        texts = distinctive([flip.text for flip in flips])
        cells = [
            _flip_cells(flip, text) for flip, text in zip(flips, texts, strict=True)
        ]
        print_table(columns, cells, hide_empty=hide_empty)
        if total > limit:
            echo(f"... and {total - limit} more: --flips {total}")
        line = with_store(
            state, f"warehouse show run:{flips[0].run_a} {flips[0].prompt_id}"
        )
        echo(f"all of one prompt: {line} (b: run:{flips[0].run_b})")


def _flip_cells(flip: Flip, question: str) -> list[Any]:
    name = flip.tool_id or str(flip.prompt_id)
    answers = (flip.response_a or flip.choice_a, flip.response_b or flip.choice_b)
    texts = (question, flip.target, *answers)
    return [name, flip.difference, flip.score_a, flip.score_b, *map(_short, texts)]


def _short(text: str | None) -> str:
    """One line; the end of a response says more than its beginning, so its middle is
    left out."""
    words = " ".join((text or "").split())
    if len(words) <= SHORT:
        return words
    half = (SHORT - 5) // 2
    return f"{words[:half]} ... {words[-half:]}"
