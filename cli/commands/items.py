"""``items``: what single prompts say about models."""

from __future__ import annotations

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import latest_option, metric_option, output_options, where_option
from ..ui.output import Output
from ..ui.table import number, p_value, print_rows, print_text


@command("items")
@click.argument("benchmark")
@click.option(
    "--irt",
    type=click.Choice(["1pl", "2pl", "none"]),
    help="Item response model. [default: 2pl from 20 models on, else 1pl]",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Prompts to show; 0 for all. Other outputs have all.",
)
@metric_option
@where_option
@latest_option
@output_options
@pass_state
def items(
    state: State,
    benchmark: str,
    irt: str | None,
    top: int,
    metric: str | None,
    where: tuple[str, ...],
    latest: bool,
    output: Output,
) -> None:
    from warehouse.analysis.items.item_statistics import ItemRow
    from warehouse.analysis.items.item_statistics import items as find

    with state.open() as store:
        report = find(store, benchmark, metric=metric, where=where, latest=latest, irt=irt)
    if not output.for_people:
        output.emit_records(ItemRow, report.rows)
    else:
        print_text(f"{report}")
        click.echo()
        shown = report.rows[:top] if top else report.rows
        print_rows(
            [
                {
                    "prompt": row.prompt,
                    "id": row.key,
                    "mean": number(row.mean_score, 3),
                    "r implied": number(row.r_implied, 2),
                    "r_c": number(row.r_corrected, 2),
                    "q negative": p_value(row.q_negative) if row.negative else None,
                    "a": number(row.discrimination, 2),
                    "difficulty": number(row.difficulty, 2),
                    "se": number(row.se_difficulty, 2),
                    "outfit": number(row.outfit, 2),
                    "text": row.text,
                }
                for row in shown
            ],
            needless=("q negative", "r implied", "a", "difficulty", "se", "outfit", "text"),
        )
        if len(shown) < len(report.rows):
            state.say(f"note: {len(report.rows) - len(shown)} more prompts: --top 0 has all")
    state.notes(report.notes)
