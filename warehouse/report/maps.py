"""Data maps, single prompts and scales on the page, closed until somebody opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from warehouse.tables.page import count, name, number, table, text
from warehouse.tables.words import decimals

if TYPE_CHECKING:
    from warehouse.analysis.irt.ability_view import AbilityReport


def abilities_say(abilities: AbilityReport) -> str:
    """One sentence on a scale."""
    first = abilities.rows[0]
    tied = sum(row.rank_low == 1 for row in abilities.rows[1:])
    alike = ""
    if tied:
        alike = f"; {tied} more may be first"
    return (
        f" is the most able of {len(abilities.rows)} on the scale of {first.n_items} "
        f"and more prompts{alike}."
    )


def abilities_table(abilities: AbilityReport) -> Markup:
    """All models on one scale."""
    rows = abilities.rows
    n_decimals = decimals(row.standard_error for row in rows)
    return table(
        f"Abilities on {', '.join(abilities.benchmarks)}",
        "Ability in standard deviations of the models, by the "
        f"{abilities.model.upper()} item response model; {100 * abilities.level:g}% "
        f"intervals. Computed {abilities.computed_at.replace('T', ' ')} UTC.",
        [
            count("Rank", [row.rank for row in rows], minor=False, keep=True),
            name("Model on the scale", [row.model for row in rows]),
            number("Ability", [row.ability for row in rows], n_decimals, sign=True),
            number("Low", [row.ci_low for row in rows], n_decimals, sign=True),
            number("High", [row.ci_high for row in rows], n_decimals, sign=True),
            text(
                "Rank set",
                [
                    "" if row.rank_low is None else f"{row.rank_low}–{row.rank_high}"
                    for row in rows
                ],
                minor=True,
            ),
            count("Prompts", [row.n_items for row in rows]),
        ],
    )
