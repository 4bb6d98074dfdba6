"""``compare --unpaired``: two models on prompts that they do not share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .table import print_view

if TYPE_CHECKING:
    from ..state import State
    from .output import Output

#: Options that need paired scores, with what they are when nobody gave them.
PAIRED_ONLY = {
    "method": "auto",
    "estimand": "prompts_sampled",
    "equivalence": None,
    "flips": None,
    "only_overall": False,
}
_FLAGS = {"only_overall": "overall"}


def compare_unpaired(state: State, a: str, b: str, output: Output, options: dict[str, Any]) -> None:
    """Run and print the unpaired comparison; ``options`` are those of ``compare``."""
    from warehouse.analysis.comparison.unpaired import UnpairedRow
    from warehouse.analysis.comparison.unpaired import compare_unpaired as compare

    for name, usual in PAIRED_ONLY.items():
        given = options.pop(name)
        if given not in (usual, str(usual).replace("_", "-")):
            raise click.UsageError(f"--{_FLAGS.get(name, name)} needs paired prompts: leave out it or --unpaired")
    for name in ("n_resamples", "seed"):
        options.pop(name)
    with state.open() as store:
        comparison = compare(store, a, b, **options)
    if output.for_people:
        shown = comparison.view(verbose=state.verbose)
        print_view(shown)
        state.notes(shown.notes)
    else:
        output.emit_records(UnpairedRow, comparison.rows)
    state.notes(f"left out {reason}" for reason in comparison.left_out)
