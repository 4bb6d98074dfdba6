"""``report``: the whole store as one HTML page, or as a folder of them."""

from __future__ import annotations

from pathlib import Path

import click

from warehouse.files import REPORT

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.next_step import say_next
from ..ui.options import level_option, output_options, resamples_option, seed_option
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.progress import share
from ..ui.table import print_text


@command("report")
@click.argument("benchmarks", metavar="[BENCHMARK]...", nargs=-1)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    default=None,
    type=OutputFile(None),
    help="Where to write it; an earlier one is replaced. [default: report.html; with --split the folder report]",
)
@click.option("--split", is_flag=True, help="Write a folder: index.html, and a page for each benchmark.")
@resamples_option(1999, "Draws for rank sets and simultaneous intervals; 0: without.")
@level_option
@seed_option
@output_options
@pass_state
def report(
    state: State,
    /,
    benchmarks: tuple[str, ...],
    out: Path | None,
    split: bool,
    n_resamples: int,
    level: float,
    seed: int,
    output: Output,
) -> None:
    from warehouse.analysis.report_data.report import read_report
    from warehouse.extras import install_command
    from warehouse.report.draw import can_draw
    from warehouse.report.page import Written, check_folder, write_report, write_split

    target = out or Path("report" if split else "report.html")
    if split:
        check_folder(target)
    else:
        state.will_write(target, REPORT, force=forced())
    with share(state.quiet, "report") as bar, state.open() as store:
        advance = None if bar is None else lambda _name, done, of: bar(done / of)
        data = read_report(store, benchmarks, level=level, n_resamples=n_resamples, seed=seed, progress=advance)
    written = (write_split if split else write_report)(data, target, force=forced())
    if not can_draw():
        state.notes([f"figures stand in words; to have them drawn run: {install_command('figures')}"])
    if output.for_people:
        print_text(f"{written}; open it in a browser")
    else:
        output.emit_records(Written, [written])
    say_next(state, output, written)
