"""``datamap``: how often correct, how consistent, and which targets may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.items.excerpts import distinctive
from warehouse.questions.text import MapPrompts

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.questions import level_option, options_of
from ..ui.table import count_range, echo, excerpt, interval, level_column, number, print_rows, print_table, print_text

if TYPE_CHECKING:
    from warehouse.analysis.items.datamap import DataMap, DataMapRow, DistributionRow

#: Suspects that people are shown, and conditions whose map is drawn; programs get all.
SHOWN, DRAWN = 20, 4
EXCERPT = 50
#: Columns of the distribution that a narrow terminal does without, the first of them first.
MINOR = ("split", "sd", "p25", "p75", "sets", "S", "draws", "prompts")
#: Upper ends of the columns and lower ends of the rows of the drawn map.
P_ENDS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999999999, 1.0)
P_TITLES = ("P = 0", "to .1", "to .25", "to .5", "to .75", "to .9", "below 1", "P = 1")
S_ENDS = (0.0, -0.4, -0.8, -1.2, -1.6, float("-inf"))
S_TITLES = ("S = 0", "to -0.4", "to -0.8", "to -1.2", "to -1.6", "below")


@command("datamap")
@options_of(MapPrompts, without=("level",))
@option("--suspects", "Rows of suspected label errors only.", is_flag=True)
@option("--distribution", "Rows of the distribution of P(correct) only.", is_flag=True)
@level_option
@output_options
def datamap(state: State, /, suspects: bool, distribution: bool, output: Output, **options: Any) -> None:
    from ..ui.progress import share

    if suspects and distribution:
        raise click.UsageError("give one of --suspects and --distribution")
    with share(state.quiet, "grouping generations") as bar:
        mapped: DataMap = MapPrompts(**options, progress=bar).ask(state.opener())
    part = "distribution" if distribution else "suspects" if suspects else "rows"
    output.give(mapped, lambda: _print(mapped, suspects, distribution), part=part)
    state.notes(mapped.notes)
    if output.for_people:
        state.notes(f"left out {reason}" for reason in mapped.left_out)


def _print(mapped: DataMap, suspects: bool, distribution: bool) -> None:
    if not suspects:
        _print_distribution(mapped.distribution)
    if not suspects and not distribution:
        _print_maps(mapped)
        echo()
    if not distribution:
        _print_suspects(mapped, everything=suspects)


def _print_distribution(rows: Sequence[DistributionRow]) -> None:
    echo("P(correct), over prompts\n")
    cells = [
        {
            "benchmark": row.benchmark,
            "split": row.split,
            "model": row.model,
            "temperature": "" if "temperature=" in row.condition else row.temperature,
            "condition": row.condition,
            "prompts": row.n_prompts,
            "draws": count_range(row.least_draws, row.most_draws),
            "mean": number(row.mean, 3),
            "sd": number(row.sd, 3),
            "P = 0": number(row.share_never, 2),
            "p25": number(row.p25, 2),
            "p50": number(row.p50, 2),
            "p75": number(row.p75, 2),
            "P = 1": number(row.share_always, 2),
            "S": number(row.mean_consistency, 2),
            "sets": number(row.mean_sets, 1),
            "suspects": row.n_suspected,
        }
        for row in rows
    ]
    hide_empty = ("split", "condition", "temperature", "S")
    print_rows(
        cells,
        hide_empty=hide_empty,
        counts=("sets",),
        minor=("split", "sd", "p25", "p75", "sets", "S", "draws", "prompts"),
    )


def _print_maps(mapped: DataMap) -> None:
    """Prompts by P and S, for as many conditions as a reader can take."""
    if len(mapped.distribution) > DRAWN:
        return
    for shown in mapped.distribution:
        condition = (shown.model, shown.condition, shown.benchmark, shown.split)
        own = [row for row in mapped.rows if (row.model, row.condition, row.benchmark, row.split) == condition]
        if any(row.consistency is not None for row in own):
            title = ", ".join(filter(None, (shown.benchmark, shown.split, shown.model, shown.condition)))
            print_text(f"\nprompts by P(correct) and S(consistency): {title}\n")
            _print_map(own)


def _print_map(rows: Sequence[DataMapRow]) -> None:
    counts = [[0] * len(P_ENDS) for _ in S_ENDS]
    for row in rows:
        if row.p_correct is not None and row.consistency is not None:
            column = next(index for index, end in enumerate(P_ENDS) if row.p_correct <= end)
            line = next(index for index, end in enumerate(S_ENDS) if row.consistency >= end)
            counts[line][column] += 1
    cells = [[title, *line] for title, line in zip(S_TITLES, counts, strict=True) if any(line)]
    print_table(["", *P_TITLES], cells)


def _print_suspects(mapped: DataMap, *, everything: bool) -> None:
    suspects = mapped.suspects
    limits = f"P <= {mapped.max_p:g}, S >= {mapped.min_s:g}, by {mapped.grouped_by or 'no text'}"
    echo(f"suspected label errors: {len(suspects)} ({limits})")
    if not suspects:
        return
    shown = suspects if everything else suspects[:SHOWN]
    echo()
    several = len({(row.benchmark, row.model) for row in mapped.rows}) > 1
    conditions = len({row.condition for row in mapped.rows}) > 1
    texts = distinctive([row.text for row in shown], [row.text for row in mapped.rows] if not several else [])
    cells = [
        {
            "benchmark": row.benchmark if several else "",
            "model": row.model if several else "",
            "condition": row.condition if conditions else "",
            "prompt": f"prompt:{row.prompt_id}",
            "P": number(row.p_correct, 2),
            level_column(mapped.level): interval(row.ci_low, row.ci_high, 2),
            "S": number(row.consistency, 2),
            "majority": excerpt(row.majority_answer, EXCERPT),
            "target": excerpt(row.target, EXCERPT),
            "question": excerpt(question, EXCERPT),
        }
        for row, question in zip(shown, texts, strict=True)
    ]
    print_rows(cells, hide_empty=("benchmark", "model", "condition", "target"), minor=("S", "question"))
    if len(shown) < len(suspects):
        echo(f"... and {len(suspects) - len(shown)} more: --suspects has them all")
