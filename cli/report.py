"""``report``: the whole store as one HTML page."""

from __future__ import annotations

import click

from .frame import command
from .options import level_option, output_options, seed_option
from .output import Output
from .progress_share import share
from .state import State, pass_state


@command("report")
@click.argument("benchmarks", metavar="[BENCHMARK]...", nargs=-1)
@click.option(
    "--out", metavar="FILE", default="report.html", show_default=True,
    type=click.Path(), help="Where to write it; an earlier one is replaced.",
)  # fmt: skip
@click.option(
    "--resamples", "n_resamples", metavar="N", default=1999, show_default=True,
    type=click.IntRange(min=0), help="Draws for rank sets and simultaneous intervals; 0: without.",
)  # fmt: skip
@level_option
@seed_option
@output_options
@pass_state
def report(
    state: State, /, benchmarks: tuple[str, ...], out: str, n_resamples: int, level: float,
    seed: int, output: Output,
) -> None:  # fmt: skip
    from warehouse.metrics.reporting import read_report
    from warehouse.report.page import Written, check_target, write_report

    check_target(out)
    with share(state.quiet, "report") as bar, state.open() as store:
        told = None if bar is None else lambda _name, done, of: bar(done / of)
        data = read_report(
            store, benchmarks, level=level, n_resamples=n_resamples, seed=seed, told=told
        )
    output.emit_records(Written, [write_report(data, out)])
