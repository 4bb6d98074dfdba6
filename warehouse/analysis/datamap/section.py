"""Data maps in the report of a benchmark: charts, distributions and suspected label
errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

from markupsafe import Markup

from warehouse.analysis.datamap.answer import datamap_of
from warehouse.analysis.datamap.charts import map_charts, name_of
from warehouse.analysis.datamap.question import MapPrompts
from warehouse.analysis.datamap.view import DataMap, DataMapRow, DistributionRow
from warehouse.analysis.items.excerpts import distinctive, excerpt
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.analysis.selection.benchmarks import BenchmarkFacts
from warehouse.analysis.selection.conditions import group_runs
from warehouse.charts.chart import Chart
from warehouse.charts.page_parts import figures, heading, notes
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.open import StoreOpener
from warehouse.tables.page import count, model_and_condition, name, number, table, text

#: A note that begins with how many prompts it is about.
_COUNTED = re.compile(r"(\d+) prompts? (?:is|are) (.*)")
#: Conditions whose data maps a report shows for one benchmark.
MOST_MAPS = 12
#: Suspects in the table of one benchmark.
TOP = 20


@dataclass(frozen=True)
class Maps:
    """Data maps of the conditions with several generations of a prompt, best first."""

    maps: tuple[DataMap, ...]  #: one per model.
    left_out: tuple[str, ...]  #: models whose generations allow none, with the reason.
    more: tuple[str, ...]  #: models beyond the most that are shown.


@dataclass(frozen=True)
class DataMapSection(Section):
    """Data maps of the conditions with several generations of a prompt."""

    WORDS = "Data map"

    maps: Maps  #: at least one.

    @classmethod
    def read(cls, store: Store, reads: BenchmarkReads, ranks: Ranking) -> Maps | None:
        """The maps of the best conditions; None where no prompt has several
        generations."""
        if reads.board:
            return _maps(store, reads.board, reads.facts, ranks.level)
        return None

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The maps; None where no prompt has several generations."""
        maps = reads.own[cls]
        if maps:
            return cls(maps)
        return None

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """The maps, the distributions, the suspects and what a reader should know."""
        maps = map_part(self.maps)
        shown = Markup("{}\n<p>{}</p>\n").format(
            heading(name, part.name, "Data map"), maps.says
        )
        if maps.distributions:
            shown += "\n" + _charts_and_tables(maps)
        shown += Markup("\n{}\n").format(notes(maps.notes))
        if maps.more:
            shown += Markup(
                "<p>{} more models have several generations of a prompt; their maps:"
                " <code>warehouse items datamap MODEL</code>.</p>"
            ).format(len(maps.more))
        return shown


def _maps(
    store: Store, board: Leaderboard, facts: BenchmarkFacts, level: float
) -> Maps | None:
    """Generations are read and grouped some prompts at a time: their texts are more
    than memory takes."""
    models = list(
        dict.fromkeys(row.model for row in board.rows if row.n_draws > row.n_prompts)
    )
    maps: list[DataMap] = []
    left_out: list[str] = []
    prompts: dict[int, dict[str, Any]] = {}
    for index, model in enumerate(models):
        if sum(len(map_.distribution) for map_ in maps) >= MOST_MAPS:
            return Maps(tuple(maps), tuple(left_out), tuple(models[index:]))
        own = group_runs(run for run in facts.runs if run["model"] == model)
        try:
            opener = StoreOpener.of(store)
            maps.append(
                datamap_of(
                    opener, MapPrompts(model, level=level), own, facts, prompts=prompts
                )
            )
            left_out += maps[-1].left_out
        except MisuseError as error:
            left_out.append(str(error))
    if maps:
        return Maps(tuple(maps), tuple(left_out), ())
    return None


def _charts_and_tables(maps: MapPart) -> Markup:
    shown = Markup("")
    if maps.charts:
        shown += Markup("<h4>P(correct) against S(consistency)</h4>\n{}").format(
            figures(maps.charts)
        )
    shown += Markup(
        "\n<h4>Distribution of P(correct) over prompts</h4>\n{}\n{}\n"
    ).format(figures(maps.histograms), maps.table or "")
    if maps.suspects:
        shown += Markup("<h4>Suspected label errors</h4>\n{}").format(
            maps.suspects_table or ""
        )
    return shown + "\n"


@dataclass(frozen=True)
class MapPart:
    """The data maps of one benchmark."""

    #: for each condition its map, where generations have text.
    charts: tuple[Chart, ...]
    histograms: tuple[Chart, ...]  #: for each condition the distribution of P(correct).
    #: of P(correct), one for each condition.
    distributions: tuple[DistributionRow, ...]
    #: prompts with a suspected label error: how many conditions suspect it, and the row
    #: of the first that does; those that most suspect first.
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
    spread = []
    for mapped in data_maps.maps:
        for row in mapped.distribution:
            spread.append((mapped, row))
    charts, histograms = map_charts(data_maps.maps)
    suspects = _suspects(data_maps)
    first = None
    if data_maps.maps:
        first = data_maps.maps[0]
    notes = dict.fromkeys(
        _together(list(chain.from_iterable(mapped.notes for mapped in data_maps.maps)))
    )
    ways = sorted({mapped.grouped_by for mapped in data_maps.maps if mapped.grouped_by})
    if ways and not any("grouped by" in note for note in notes):
        notes = {f"generations are grouped by {' or '.join(ways)}": None, **notes}
    if first:
        max_p = first.max_p
        min_s = first.min_s
    else:
        max_p = 0.0
        min_s = 0.0
    distribution = None
    if spread:
        distribution = _distribution_table([row for _, row in spread])
    return MapPart(
        charts=tuple(charts),
        histograms=tuple(histograms),
        distributions=tuple(row for _, row in spread),
        suspects=tuple(suspects[:TOP]),
        max_p=max_p,
        min_s=min_s,
        says=_says(
            [row for _, row in spread], [number_of for number_of, _ in suspects]
        ),
        table=distribution,
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
    said = tuple(joint.partition(" are ")[2] for joint in once)
    return [*(note for note in notes if not note.endswith(said)), *once]


def _suspects(data_maps: Maps) -> list[tuple[int, DataMapRow]]:
    by_prompt: dict[int, list[DataMapRow]] = {}
    for mapped in data_maps.maps:
        for row in mapped.suspects:
            by_prompt.setdefault(row.prompt_id, []).append(row)
    counted = [(len(rows), min(rows, key=_unlikely)) for rows in by_prompt.values()]
    return sorted(
        counted,
        key=lambda suspect: (-suspect[0], *_unlikely(suspect[1]), suspect[1].prompt_id),
    )


def _unlikely(row: DataMapRow) -> tuple[float, float]:
    """To order suspects: the most often wrong first, then the most consistent."""
    return row.p_correct or 0.0, -(row.consistency or 0.0)


def _says(rows: Sequence[DistributionRow], suspected_by: Sequence[int]) -> str:
    """How much of the benchmark models get right always, never, and sometimes; how many
    keys draws speak against."""
    first = rows[0]
    sometimes = max(0.0, 1 - first.share_never - first.share_always)
    whose = "its draws"
    if len(rows) != 1:
        whose = f"the draws of at least half of the {len(rows)} conditions"
    often = sum(2 * number_of >= len(rows) for number_of in suspected_by)
    some = ""
    if len(suspected_by) > often:
        some = f" (those of any: {len(suspected_by)})"
    return (
        f"{name_of(first)} is right on {100 * first.share_always:.0f}% of the prompts "
        f"in every draw, on {100 * first.share_never:.0f}% in none, and on "
        f"{100 * sometimes:.0f}% by luck of the draw; {whose} speak against the key of "
        f"{often or 'no'} prompt{'' if often == 1 else 's'}{some}."
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


def _suspects_table(
    data_maps: Maps, suspects: Sequence[tuple[int, DataMapRow]]
) -> Markup:
    first, shown = data_maps.maps[0], suspects[:TOP]
    more = ""
    if len(suspects) > len(shown):
        more = Markup(
            " The first {} of {}; all: <code>warehouse items datamap MODEL --suspects</code>."
        ).format(len(shown), len(suspects))
    rows = [row for _, row in shown]
    texts = distinctive([row.text for row in rows], [row.text for row in first.rows])
    return table(
        f"Suspected label errors of {first.rows[0].benchmark}",
        Markup(
            "Suspected label errors: P(correct) at most {:g} and S(consistency) at "
            "least {:g}, of draws enough to say so: answered wrongly, and always "
            "alike. A row has the condition with the lowest P; those that most "
            "conditions suspect stand first.{}"
        ).format(first.max_p, first.min_s, more),
        [
            name(
                "Prompt",
                [row.tool_id or f"prompt:{row.prompt_id}" for row in rows],
                wrap=True,
            ),
            text(
                "Question",
                [excerpt(question) for question in texts],
                long=True,
                minor=True,
                keep=True,
            ),
            text("Target", [excerpt(row.target) for row in rows], wrap=True, keep=True),
            text(
                "Majority answer",
                [excerpt(row.majority_answer) for row in rows],
                wrap=True,
                keep=True,
            ),
            count("Suspected by", [number_of for number_of, _ in shown], keep=True),
            number("P(correct)", [row.p_correct for row in rows], "%.3g"),
            number("High", [row.ci_high for row in rows], 2, minor=True),
            number("S", [row.consistency for row in rows], 2, minor=True),
            number("Its share", [row.majority_share for row in rows], 2, minor=True),
            text("Model", [row.model for row in rows], minor=True),
            text("Condition", [row.condition for row in rows], wrap=True, minor=True),
        ],
    )
