"""``compare --unpaired``: two models on prompts that they do not share."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from .flag_meanings import meanings
from .table import decimals, interval, number, p_value, print_table, visible

if TYPE_CHECKING:
    from warehouse.analysis.comparison.unpaired import UnpairedComparison, UnpairedRow

    from ..state import State
    from .output import Output

WIDTH = 100
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
        found = compare(store, a, b, **options)
    if output.for_people:
        _print(found, state)
    else:
        output.emit_records(UnpairedRow, found.rows)
    for reason in found.left_out:
        state.say(f"note: left out {reason}")


def _print(found: UnpairedComparison, state: State) -> None:
    first = found.rows[0]
    for name, model, condition in (("a", first.model_a, first.condition_a), ("b", first.model_b, first.condition_b)):
        click.echo(f"{name} = {visible(model)}{', ' if condition else ''}{visible(condition)}")
    click.echo()
    columns = [
        "benchmark",
        "split",
        "metric",
        "a",
        "b",
        "a - b",
        "se",
        f"{100 * first.level:g}% interval",
        "p",
        "p z",
        "p Holm",
        "better",
        "prompts a",
        "prompts b",
        "clusters a",
        "clusters b",
        "unscored a",
        "unscored b",
        "flags",
    ]
    needless = ("split", "p Holm", "clusters a", "clusters b", "unscored a", "unscored b", "flags")
    print_table(columns, [_cells(row) for row in found.rows], needless=needless)
    click.echo()
    for line in _explain(found.rows):
        click.echo(fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False))
    for row in found.rows:
        if row.ci_low is None:
            state.say(f"note: {row.benchmark}: {row.reason}")


def _cells(row: UnpairedRow) -> list[Any]:
    places = decimals([row.standard_error])
    return [
        row.benchmark,
        row.split,
        row.metric,
        number(row.mean_a, places),
        number(row.mean_b, places),
        number(row.difference, places, sign=True),
        number(row.standard_error, places),
        interval(row.ci_low, row.ci_high, places),
        p_value(row.p_value),
        p_value(row.z_p_value),
        p_value(row.p_holm),
        row.better or "neither",
        row.n_prompts_a,
        row.n_prompts_b,
        row.n_clusters_a,
        row.n_clusters_b,
        row.unscored_a,
        row.unscored_b,
        row.flags,
    ]


def _explain(rows: tuple[UnpairedRow, ...]) -> list[str]:
    clustered = any(row.n_clusters_a is not None or row.n_clusters_b is not None for row in rows)
    lines = [
        "Unpaired: each figure is over its own prompts, and the errors are taken as independent:"
        " se = sqrt(se_a² + se_b²) (Miller 2024, eq. 5)"
        f"{', by cluster (CR2) where prompts are clustered' if clustered else ''}.",
        "p and interval: Welch's t; p z: the paper's normal test (eq. 6).",
    ]
    adjusted = sum(row.p_holm is not None for row in rows)
    if adjusted:
        lines.append(f"p Holm: p adjusted for {adjusted} benchmarks; better goes by it.")
    if any(row.n_shared for row in rows):
        shared = max(row.n_shared for row in rows)
        lines.append(f"shared_prompts: up to {shared} prompts are shared; pairing them says more.")
    return lines + meanings(flag.removesuffix("_a").removesuffix("_b") for row in rows for flag in row.flags)
