"""``report``: the whole store as one HTML page, or as a folder of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from warehouse.files import REPORT
from warehouse.questions.options import AsRows

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.progress import share
from ..ui.questions import level_option, options_of, seed_option
from ..ui.table import print_text


@command("report")
@click.argument("benchmarks", metavar="[BENCHMARK]...", nargs=-1)
@option(
    "-o --out FILE",
    "Where to write it: a file (.html) or a folder. An earlier one is replaced. "
    "[default: report.html, or the folder report]",
    OutputFile(None),
)
@option(
    "--split/--one-page",
    "Write a folder: index.html, and a page for each benchmark; or all on one page. "
    "[default: a folder above 20 benchmarks or 3 MB, unless --out names a file]",
    silent_default=None,
)
@option(
    "-j --jobs N",
    "Processes that work side by side. [default: 2 from 100 benchmarks on, else 1]",
    click.IntRange(min=1),
)
@option(
    "--resamples N",
    "Draws for rank sets and simultaneous intervals; 0: without.",
    click.IntRange(min=0),
    1999,
    name="n_resamples",
)
@level_option
@options_of(AsRows)
@seed_option
@output_options
def report(
    state: State,
    /,
    benchmarks: tuple[str, ...],
    out: Path | None,
    split: bool | None,
    jobs: int | None,
    n_resamples: int,
    level: float,
    seed: int,
    output: Output,
    **as_rows: Any,
) -> None:
    from warehouse.analysis.report_data.report import ReportReading
    from warehouse.report.workers import side_by_side
    from warehouse.report.writing import (
        FOLDER,
        Written,
        check_folder,
        is_page,
        write_report,
    )
    from warehouse.store.known_sources import known_in

    if split:
        check_folder(out or FOLDER)
    elif out is not None and is_page(out):
        state.will_write(out, REPORT, force=forced())
    with share(state.quiet, "report") as bar, state.open() as store:
        advance = None if bar is None else lambda _name, done, of: bar(done / of)
        reading = ReportReading(
            store,
            benchmarks,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            progress=advance,
            **as_rows,
        )
        made_by, known_as = side_by_side(reading, jobs), known_in(store)
        written = write_report(
            reading,
            out,
            split=split,
            sections_by=made_by,
            force=forced(),
            known_as=known_as,
        )
    output.answer(
        Written, [written], lambda: print_text(f"{written}; open it in a browser")
    )
    say_next(state, output, written)
