"""Single prompts and scales on the page, closed until somebody opens them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from warehouse.analysis.irt.results import AbilityReport
from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.report_data.benchmark import HardPrompts, Suspects
from warehouse.report.maps import excerpt
from warehouse.report.table import count, name, number, table, text
from warehouse.tables.words import decimals

Row = Mapping[str, Any]


def prompts_say(hard: HardPrompts) -> str:
    """One sentence on single prompts."""
    share = 100 * hard.n_constant / hard.n_prompts
    negative = {0: "none goes", 1: "1 goes"}.get(hard.n_negative, f"{hard.n_negative} go")
    return (
        f"Of {hard.n_prompts} prompts, {hard.n_constant} ({share:.0f}%) have one score for all {hard.n_models}"
        f" conditions and compare nobody; {negative} against the rest."
    )


def prompts_table(hard: HardPrompts, benchmark: str, known: Mapping[int, Row]) -> Markup:
    """The hardest prompts, and those on which the better models do worse."""
    rows = [("against the rest", prompt, value) for prompt, value in hard.negative]
    rows += [("hardest", prompt, value) for prompt, value in hard.hardest]
    prompts = [known.get(prompt, {}) for _, prompt, _ in rows]
    texts = distinctive([one.get("text") for one in prompts])
    return table(
        f"Single prompts of {benchmark}",
        Markup(
            "Hardest: the lowest mean over conditions. Against the rest: correlation with all other prompts below 0,"
            " false ones at most 5%. All: <code>warehouse items BENCHMARK</code>."
        ),
        [
            name("Single prompt", [_called(one, row[1]) for one, row in zip(prompts, rows, strict=True)], wrap=True),
            text("Why", [row[0] for row in rows], keep=True),
            number("Mean or correlation", [row[2] for row in rows], 2),
            text("Question", [excerpt(one) for one in texts], long=True, spare=True, keep=True),
        ],
    )


def _called(prompt: Row, number_of: int) -> str:
    """By the tool's id, else as ``warehouse show`` takes it."""
    return str(prompt.get("tool_id") or f"prompt:{number_of}")


def suspects_say(suspects: Suspects) -> str:
    """One sentence on keys that may be wrong."""
    judged, models = f"of {suspects.n_judged} keys", f"by the answers of {suspects.n_models} models"
    if not suspects.n_listed or suspects.expected_fdr is None:
        return f"None {judged} is suspect {models}; that proves none right."
    right = round(suspects.n_listed * suspects.expected_fdr)
    are = "are" if suspects.n_listed > 1 else "is"
    return (
        f"{suspects.n_listed} {judged} {are} suspect {models}, about {right} of them falsely; others may be wrong too."
    )


def suspects_table(suspects: Suspects, benchmark: str) -> Markup:
    """The keys that answers speak against most."""
    rows = suspects.rows
    texts = distinctive([row.text for row in rows])
    return table(
        f"Suspected wrong keys of {benchmark}",
        Markup(
            "P(wrong): probability that the recorded key is wrong, by the votes of models; suspect from {threshold:g}"
            " on. All, and the leaderboard without them: <code>warehouse audit BENCHMARK --effect</code>."
        ).format(threshold=suspects.threshold),
        [
            name("Suspected key of", [row.key for row in rows], wrap=True),
            number("P(wrong)", [row.posterior for row in rows], 2),
            text("Recorded", [row.recorded for row in rows], wrap=True, keep=True),
            text("Best rival", [row.rival or "another" for row in rows], wrap=True, keep=True),
            text("Votes", [f"{row.votes_key:g} : {row.votes_rival:g}" for row in rows], keep=True),
            text("Question", [excerpt(one) for one in texts], long=True, spare=True, keep=True),
        ],
    )


def abilities_say(abilities: AbilityReport) -> str:
    """One sentence on a scale."""
    first = abilities.rows[0]
    tied = sum(row.rank_low == 1 for row in abilities.rows[1:])
    alike = f"; {tied} more may be first" if tied else ""
    return f" is the most able of {len(abilities.rows)} on the scale of {first.n_items} and more prompts{alike}."


def abilities_table(abilities: AbilityReport) -> Markup:
    """All models on one scale."""
    rows = abilities.rows
    places = decimals(row.standard_error for row in rows)
    return table(
        f"Abilities on {', '.join(abilities.benchmarks)}",
        f"Ability in standard deviations of the models, by the {abilities.model.upper()} item response model;"
        f" {100 * abilities.level:g}% intervals. Computed {abilities.computed_at.replace('T', ' ')} UTC.",
        [
            count("Rank", [row.rank for row in rows], spare=False, keep=True),
            name("Model on the scale", [row.model for row in rows]),
            number("Ability", [row.ability for row in rows], places, sign=True),
            number("Low", [row.ci_low for row in rows], places, sign=True),
            number("High", [row.ci_high for row in rows], places, sign=True),
            text(
                "Rank set",
                ["" if row.rank_low is None else f"{row.rank_low}–{row.rank_high}" for row in rows],
                spare=True,
            ),
            count("Prompts", [row.n_items for row in rows]),
        ],
    )
