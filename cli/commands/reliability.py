"""``reliability``: how far the verdicts of a suite depend on what it is made of."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.reliability.question import Reliability

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import option, output_options, picture_option, write_picture
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.analysis.reliability.view import ReliabilityReport

PARTS = (
    "ranks",
    "sizes",
    "models",
    "pool",
    "switches",
    "agreement",
    "seeds",
    "datasets",
)
#: Parts of which there is a picture.
_DRAWN = ("ranks", "sizes", "switches", "seeds", "agreement")


@command("noise reliability")
@options_of(Reliability, without=("datasets",))
@option(
    "--part",
    "Only this: ranks by the number of prompts; every size; models by aggregates; the "
    "pool of models; adjacent models; subscenarios; few-shot seeds; each data set by "
    "itself.",
    click.Choice(PARTS),
)
@picture_option
@output_options
def reliability(
    state: State, /, part: str | None, svg: Path | None, output: Output, **options: Any
) -> None:
    if svg and part not in (None, *_DRAWN):
        raise click.UsageError(
            f"--svg draws {', '.join(_DRAWN)}, or with no --part all of them; not "
            f"{part}"
        )
    question = Reliability(**options, datasets=part == "datasets")
    report: ReliabilityReport = state.ask(question)
    if svg:
        from warehouse.analysis.reliability.charts import charts_by_part

        drawn = charts_by_part(report)
        write_picture(
            svg,
            list(
                chain.from_iterable(
                    drawn[name] for name in ([part] if part else _DRAWN)
                )
            ),
        )
    fields = {None: "rows", "sizes": "rows", "seeds": "seed_designs"}
    state.give(
        output,
        report,
        partial(state.view_of, partial(report.view, part=part)),
        part=fields.get(part, str(part)),
    )
    say_next(state, output, report, question)
