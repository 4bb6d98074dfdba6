"""``compare --unpaired``: two models on prompts that they do not share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .compare_footnotes import print_footnotes, print_models
from .flag_meanings import meanings
from .table import decimals, interval, level_column, number, of_shown, p_value, print_rows

if TYPE_CHECKING:
    from warehouse.analysis.comparison.unpaired import UnpairedComparison, UnpairedRow

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
        _print(comparison, state)
    else:
        output.emit_records(UnpairedRow, comparison.rows)
    state.notes(f"left out {reason}" for reason in comparison.left_out)


#: Columns that a narrow terminal does without, the first of them first.
SPARE = (
    "p z",
    "metric",
    "unscored a",
    "unscored b",
    "split",
    "clusters a",
    "clusters b",
    "prompts a",
    "prompts b",
    "se",
    "better",
)


def _print(comparison: UnpairedComparison, state: State) -> None:
    print_models(comparison.rows[0])
    needless = ("split", "p Holm", "clusters a", "clusters b", "unscored a", "unscored b", "flags")
    cells = [_cells(row) for row in comparison.rows]
    shown = print_rows(cells, needless=needless, spare=SPARE)
    print_footnotes(of_shown(_explain(comparison.rows), cells[0], shown))
    for row in comparison.rows:
        if row.ci_low is None:
            state.say(f"note: {row.benchmark}: {row.reason}")


def _cells(row: UnpairedRow) -> dict[str, Any]:
    places = decimals([row.standard_error])
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "a": number(row.mean_a, places),
        "b": number(row.mean_b, places),
        "a - b": number(row.difference, places, sign=True),
        "se": number(row.standard_error, places),
        level_column(row.level): interval(row.ci_low, row.ci_high, places),
        "p": p_value(row.p_value),
        "p z": p_value(row.z_p_value),
        "p Holm": p_value(row.p_holm),
        "better": row.better or "neither",
        "prompts a": row.n_prompts_a,
        "prompts b": row.n_prompts_b,
        "clusters a": row.n_clusters_a,
        "clusters b": row.n_clusters_b,
        "unscored a": row.unscored_a,
        "unscored b": row.unscored_b,
        "flags": row.flags,
    }


def _explain(rows: tuple[UnpairedRow, ...]) -> list[str]:
    clustered = any(row.n_clusters_a is not None or row.n_clusters_b is not None for row in rows)
    lines = [
        "Unpaired: each figure is over its own prompts, and the errors are taken as independent:"
        " se = sqrt(se_a² + se_b²) (Miller 2024, eq. 5)"
        f"{', by cluster (CR2) where prompts are clustered' if clustered else ''}.",
        "p: Welch's t, as of the interval.",
        "p z: the paper's normal test (eq. 6).",
    ]
    adjusted = sum(row.p_holm is not None for row in rows)
    if adjusted:
        lines.append(f"p Holm: p adjusted for {adjusted} benchmarks; better goes by it.")
    if any(row.n_shared for row in rows):
        shared = max(row.n_shared for row in rows)
        lines.append(f"shared_prompts: up to {shared} prompts are shared; pairing them says more.")
    return lines + meanings(flag.removesuffix("_a").removesuffix("_b") for row in rows for flag in row.flags)
