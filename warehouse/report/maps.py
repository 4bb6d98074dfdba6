"""Data maps, single prompts and scales on the page, closed until somebody opens them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from warehouse.analysis.items.datamap_charts import map_charts, name_of
from warehouse.analysis.items.datamap_report import DataMapRow, DistributionRow
from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.items.single_prompts import HardPrompts, Suspects
from warehouse.analysis.report_data.read import Maps
from warehouse.charts.chart import Chart
from warehouse.tables.page import count, model_and_condition, name, number, table, text
from warehouse.tables.words import decimals

if TYPE_CHECKING:
    from warehouse.analysis.irt.ability_report import AbilityReport

#: A note that begins with how many prompts it is about.
_COUNTED = re.compile(r"(\d+) prompts? (?:is|are) (.*)")
#: Suspects in the table of one benchmark.
TOP = 20
#: Characters of a text in a table.
TEXT = 240


@dataclass(frozen=True)
class MapPart:
    """The data maps of one benchmark."""

    charts: tuple[Chart, ...]  #: for each condition its map, where generations have text.
    histograms: tuple[Chart, ...]  #: for each condition the distribution of P(correct).
    distributions: tuple[DistributionRow, ...]  #: of P(correct), one for each condition.
    #: prompts with a suspected label error: how many conditions suspect it, and the row of the first that does; those
    #: that most suspect first.
    suspects: tuple[tuple[int, DataMapRow], ...]
    max_p: float  #: suspected are prompts with at most this P(correct)
    min_s: float  #: and at least this S(consistency).
    says: str  #: what follows, in one sentence.
    table: Markup | None  #: the distributions.
    suspects_table: Markup | None  #: the suspects.
    notes: tuple[str, ...]  #: what a reader should know.
    more: tuple[str, ...]  #: models whose maps are not shown.


def map_part(data_maps: Maps) -> MapPart:
    """Charts and tables of one benchmark."""
    spread = [(mapped, row) for mapped in data_maps.maps for row in mapped.distribution]
    charts, histograms = map_charts(data_maps.maps)
    suspects = _suspects(data_maps)
    first = data_maps.maps[0] if data_maps.maps else None
    notes = dict.fromkeys(_together([note for mapped in data_maps.maps for note in mapped.notes]))
    ways = sorted({mapped.grouped_by for mapped in data_maps.maps if mapped.grouped_by})
    if ways and not any("grouped by" in note for note in notes):
        notes = {f"generations are grouped by {' or '.join(ways)}": None, **notes}
    return MapPart(
        charts=tuple(charts),
        histograms=tuple(histograms),
        distributions=tuple(row for _, row in spread),
        suspects=tuple(suspects[:TOP]),
        max_p=first.max_p if first else 0.0,
        min_s=first.min_s if first else 0.0,
        says=_says([row for _, row in spread], [number_of for number_of, _ in suspects]),
        table=_distribution_table([row for _, row in spread]) if spread else None,
        suspects_table=_suspects_table(data_maps, suspects) if suspects else None,
        notes=(*notes, *data_maps.left_out),
        more=data_maps.more,
    )


def _together(notes: Sequence[str]) -> list[str]:
    """Notes of several maps that differ in a number of prompts only, as one."""
    counted: dict[str, list[int]] = {}
    for note in notes:
        if match := _COUNTED.fullmatch(note):
            counted.setdefault(match[2], []).append(int(match[1]))
    once = [
        f"{min(several)} to {max(several)} prompts, by condition, are {words}"
        for words, several in counted.items()
        if min(several) < max(several)
    ]
    return [*(note for note in notes if not any(note.endswith(joint.partition(" are ")[2]) for joint in once)), *once]


def _suspects(data_maps: Maps) -> list[tuple[int, DataMapRow]]:
    by_prompt: dict[int, list[DataMapRow]] = {}
    for mapped in data_maps.maps:
        for row in mapped.suspects:
            by_prompt.setdefault(row.prompt_id, []).append(row)
    counted = [(len(rows), min(rows, key=_unlikely)) for rows in by_prompt.values()]
    return sorted(counted, key=lambda suspect: (-suspect[0], *_unlikely(suspect[1]), suspect[1].prompt_id))


def _unlikely(row: DataMapRow) -> tuple[float, float]:
    """To order suspects: the most often wrong first, then the most consistent."""
    return row.p_correct or 0.0, -(row.consistency or 0.0)


def _says(rows: Sequence[DistributionRow], suspected_by: Sequence[int]) -> str:
    """How much of the benchmark models get right always, never, and sometimes; how many keys draws speak against."""
    first = rows[0]
    sometimes = max(0.0, 1 - first.share_never - first.share_always)
    whose = "its draws" if len(rows) == 1 else f"the draws of at least half of the {len(rows)} conditions"
    often = sum(2 * number_of >= len(rows) for number_of in suspected_by)
    some = f" (those of any: {len(suspected_by)})" if len(suspected_by) > often else ""
    return (
        f"{name_of(first)} is right on {100 * first.share_always:.0f}% of the prompts in every draw, on"
        f" {100 * first.share_never:.0f}% in none, and on {100 * sometimes:.0f}% by luck of the draw;"
        f" {whose} speak against the key of {often or 'no'} prompt{'' if often == 1 else 's'}{some}."
    )


def _distribution_table(rows: Sequence[DistributionRow]) -> Markup:
    return table(
        f"P(correct) of {rows[0].benchmark}",
        "P(correct) over prompts: how often the generations of one prompt are correct.",
        [
            *model_and_condition(
                "Model mapped",
                [row.model for row in rows],
                [", ".join(filter(None, (row.condition, row.split))) for row in rows],
            ),
            count("Prompts", [row.n_prompts for row in rows]),
            count("Draws", [row.n_draws for row in rows]),
            number("Mean", [row.mean for row in rows], 3),
            number("SD", [row.sd for row in rows], 3, minor=True),
            number("Never", [row.share_never for row in rows], 3),
            number("Always", [row.share_always for row in rows], 3),
            number("25%", [row.p25 for row in rows], 2, minor=True),
            number("50%", [row.p50 for row in rows], 2, minor=True),
            number("75%", [row.p75 for row in rows], 2, minor=True),
            number("Mean S", [row.mean_consistency for row in rows], 2, minor=True),
            number("Mean sets", [row.mean_sets for row in rows], 2, minor=True),
            count("Suspects", [row.n_suspected for row in rows], keep=True),
        ],
    )


def _suspects_table(data_maps: Maps, suspects: Sequence[tuple[int, DataMapRow]]) -> Markup:
    first, shown = data_maps.maps[0], suspects[:TOP]
    more = (
        Markup(" The first {} of {}; all: <code>warehouse datamap MODEL --suspects</code>.").format(
            len(shown), len(suspects)
        )
        if len(suspects) > len(shown)
        else ""
    )
    rows = [row for _, row in shown]
    texts = distinctive([row.text for row in rows], [row.text for row in first.rows])
    return table(
        f"Suspected label errors of {first.rows[0].benchmark}",
        Markup(
            "Suspected label errors: P(correct) at most {:g} and S(consistency) at least {:g}, of draws enough to say"
            " so: answered wrongly, and always alike. A row has the condition with the lowest P; those that most"
            " conditions suspect stand first.{}"
        ).format(first.max_p, first.min_s, more),
        [
            name("Prompt", [row.tool_id or f"prompt:{row.prompt_id}" for row in rows], wrap=True),
            text("Question", [excerpt(question) for question in texts], long=True, minor=True, keep=True),
            text("Target", [excerpt(row.target) for row in rows], wrap=True, keep=True),
            text("Majority answer", [excerpt(row.majority_answer) for row in rows], wrap=True, keep=True),
            count("Suspected by", [number_of for number_of, _ in shown], keep=True),
            number("P(correct)", [row.p_correct for row in rows], "%.3g"),
            number("High", [row.ci_high for row in rows], 2, minor=True),
            number("S", [row.consistency for row in rows], 2, minor=True),
            number("Its share", [row.majority_share for row in rows], 2, minor=True),
            text("Model", [row.model for row in rows], minor=True),
            text("Condition", [row.condition for row in rows], wrap=True, minor=True),
        ],
    )


def excerpt(full: str | None) -> str:
    """The beginning of a text on one line."""
    words = " ".join((full or "").split())
    return words if len(words) <= TEXT else f"{words[: TEXT - 1]}…"


Row = Mapping[str, Any]


def prompts_say(hard: HardPrompts) -> str:
    """One sentence on single prompts."""
    share = 100 * hard.n_constant / hard.n_prompts
    negative = {0: "none goes", 1: "1 goes"}.get(hard.n_negative, f"{hard.n_negative} go")
    return (
        f"Of {hard.n_prompts} prompts, {hard.n_constant} ({share:.0f}%) have one score for all {hard.n_models}"
        f" conditions and compare nobody; {negative} against the rest."
    )


def prompts_table(hard: HardPrompts, benchmark: str, prompts_by_id: Mapping[int, Row]) -> Markup:
    """The hardest prompts, and those on which the better models do worse."""
    rows = [("against the rest", prompt, value) for prompt, value in hard.negative]
    rows += [("hardest", prompt, value) for prompt, value in hard.hardest]
    prompts = [prompts_by_id.get(prompt, {}) for _, prompt, _ in rows]
    texts = distinctive([stored.get("text") for stored in prompts])
    return table(
        f"Single prompts of {benchmark}",
        Markup(
            "Hardest: the lowest mean over conditions. Against the rest: correlation with all other prompts below 0,"
            " false ones at most 5%. All: <code>warehouse items BENCHMARK</code>."
        ),
        [
            name(
                "Single prompt", [_called(stored, row[1]) for stored, row in zip(prompts, rows, strict=True)], wrap=True
            ),
            text("Why", [row[0] for row in rows], keep=True),
            number("Mean or correlation", [row[2] for row in rows], 2),
            text("Question", [excerpt(question) for question in texts], long=True, minor=True, keep=True),
        ],
    )


def _called(prompt: Row, number_of: int) -> str:
    """Name of a prompt: the tool's id, else as ``warehouse show`` takes it."""
    return str(prompt.get("tool_id") or f"prompt:{number_of}")


def suspects_say(suspects: Suspects) -> str:
    """One sentence on keys that may be wrong."""
    judged, models = f"of {suspects.n_judged} keys", f"by the answers of {suspects.n_models} models"
    if not suspects.n_listed:
        return f"None {judged} is suspect {models}; that proves none right."
    are = "are" if suspects.n_listed > 1 else "is"
    return (
        f"{suspects.n_listed} {judged} {are} suspect {models}; how many of them are wrong is not known, and others may"
        " be wrong too."
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
            text("Question", [excerpt(question) for question in texts], long=True, minor=True, keep=True),
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
    n_decimals = decimals(row.standard_error for row in rows)
    return table(
        f"Abilities on {', '.join(abilities.benchmarks)}",
        f"Ability in standard deviations of the models, by the {abilities.model.upper()} item response model;"
        f" {100 * abilities.level:g}% intervals. Computed {abilities.computed_at.replace('T', ' ')} UTC.",
        [
            count("Rank", [row.rank for row in rows], minor=False, keep=True),
            name("Model on the scale", [row.model for row in rows]),
            number("Ability", [row.ability for row in rows], n_decimals, sign=True),
            number("Low", [row.ci_low for row in rows], n_decimals, sign=True),
            number("High", [row.ci_high for row in rows], n_decimals, sign=True),
            text(
                "Rank set",
                ["" if row.rank_low is None else f"{row.rank_low}–{row.rank_high}" for row in rows],
                minor=True,
            ),
            count("Prompts", [row.n_items for row in rows]),
        ],
    )
