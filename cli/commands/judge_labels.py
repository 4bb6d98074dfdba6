"""``judge plan`` and ``judge next``: how many labels of people, and of which answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import SHEET, write_output
from warehouse.questions.labels import NextLabels, PlanLabels

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import echo, number, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.judges.next import LabelWave
    from warehouse.analysis.judges.plan import LabelPlans

judge_option = click.option(
    "--judge", metavar="NAME", required=True, help="Who judges: the scorer, its model, or the metric."
)


@command("judge next")
@judge_option
@options_of(NextLabels, without=("judge",))
@click.option(
    "--out", metavar="FILE", type=OutputFile(SHEET), help="Write the sheet that people fill in there, as CSV."
)
@output_options
@pass_state
def next_(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    from warehouse.analysis.judges.next import DrawnRow

    question = NextLabels.from_command(options, typed(options))
    if question.dry_run and out is not None:
        raise click.UsageError("--dry-run writes nothing, so no --out either")
    if question.n is None and out is None:
        raise click.UsageError(
            "say how many prompts to draw (--n K), or where the sheet of those drawn goes (--out FILE)"
        )
    wave: LabelWave = question.ask(state.opener())
    if out is not None:
        write_output(out, wave.sheet_csv().encode(), SHEET, force=forced())
    if output.for_people:
        _print_wave(wave, question, out)
    else:
        output.emit_records(DrawnRow, wave.rows)
    state.notes(wave.notes)


def _print_wave(wave: LabelWave, question: NextLabels, out: Path | None) -> None:
    new, answers = sum(row.n_new for row in wave.rows), len(wave.sheet)
    models = f"{len(wave.models)} model{'s' * (len(wave.models) != 1)}"
    if question.n is not None:
        verb = "would be drawn" if not wave.written else "are drawn"
        print_text(f"{new} prompts {verb} (wave {wave.wave}, {wave.rule.split()[0]}): answers of {models} to label.")
        echo()
        cells = [
            {
                "stratum": row.stratum,
                "prompts": row.n_prompts,
                "drawn": row.n_drawn,
                "new": row.n_new,
                "chance": number(row.probability, 3),
                "sd left": number(row.spread, 3),
            }
            for row in wave.rows
        ]
        shown = print_rows(cells, hide_empty=("stratum", "sd left"))
        print_legend(
            {
                "drawn": "in all waves; the chance is theirs",
                "sd left": "standard deviation that the judge leaves unexplained, by labels at hand",
            },
            shown,
        )
    if out is not None:
        print_text(
            f"{out} has {answers} answers; fill in the column label (empty: not judged), then:"
            f" warehouse ingest {out} --map label_sheet"
        )
    elif wave.written:
        print_text("They are written down; --out FILE, without --n, writes their sheet.")


@command("judge plan")
@judge_option
@options_of(PlanLabels, without=("judge",))
@output_options
@pass_state
def plan(state: State, /, output: Output, **options: Any) -> None:
    raise NotImplementedError
