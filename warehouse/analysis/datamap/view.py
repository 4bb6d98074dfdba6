"""P(correct) against S(consistency): rows, and the tables that people are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.analysis.datamap.brief import (
    brief_distribution,
    brief_maps,
    rightness,
    suspicion,
)
from warehouse.analysis.datamap.row import DataMapRow as DataMapRow
from warehouse.analysis.datamap.row import DistributionRow as DistributionRow
from warehouse.analysis.items.excerpts import distinctive
from warehouse.analysis.results import Result
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import (
    count_range,
    excerpt,
    interval,
    left_out,
    level_column,
    number,
)


@dataclass(frozen=True)
class DataMap(Result):
    """P(correct) against S(consistency)."""

    DRAWN_BY = "warehouse.analysis.datamap.charts:datamap_charts"

    grouped_by: str  #: how generations were put into semantic sets.
    max_p: float  #: suspected are prompts with at most this P(correct)
    min_s: float  #: and at least this S(consistency).
    level: float  #: nominal coverage of the intervals of P(correct).
    rows: tuple[DataMapRow, ...]  #: one per condition and prompt.
    distribution: tuple[DistributionRow, ...]  #: one row per condition.
    notes: tuple[str, ...]  #: what a reader should know.
    #: conditions that have no data map, each with the reason.
    left_out: tuple[str, ...]

    @property
    def suspects(self) -> tuple[DataMapRow, ...]:
        """Suspected label errors: the most often wrong first, then the most consistent."""
        suspected = [row for row in self.rows if row.suspected]
        return tuple(
            sorted(
                suspected, key=lambda r: (r.p_correct or 0.0, -(r.consistency or 0.0))
            )
        )

    @property
    def one_line(self) -> str:
        prompts = len({row.prompt_id for row in self.rows})
        return (
            f"{prompts} prompts under {len(self.distribution)} conditions, "
            f"{len(self.suspects)} suspected label errors"
        )

    def view(
        self,
        *,
        verbose: bool = False,
        suspects: bool = False,
        distribution: bool = False,
    ) -> View:
        """The distribution of P(correct), maps of a few conditions, and the suspects.

        Args:
            verbose: quantiles, finer maps, and by which thresholds targets are suspect.
            suspects: these alone, all of them.
            distribution: it alone.
        """
        notes = (*self.notes, *left_out(self.left_out))
        if not verbose:
            return View(tuple(_brief(self, suspects, distribution)), notes)
        parts: list[Part] = []
        if not suspects:
            parts += ["P(correct), over prompts", "", _distribution(self.distribution)]
        if not suspects and not distribution:
            parts += [*_maps(self), ""]
        if not distribution:
            parts += _suspects(self, everything=suspects)
        return View(tuple(parts), notes)


#: Suspects that are shown, conditions whose map is drawn, and characters of a text.
_SHOWN, _DRAWN, _EXCERPT = 20, 4, 50
#: Columns of the distribution that a narrow terminal does without, the first of them
#: first.
_MINOR = ("split", "sd", "p25", "p75", "sets", "S", "draws", "prompts")
#: Upper ends of the columns and lower ends of the rows of the drawn map.
_P_ENDS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999999999, 1.0)
_P_TITLES = ("P = 0", "to .1", "to .25", "to .5", "to .75", "to .9", "below 1", "P = 1")
_S_ENDS = (0.0, -0.4, -0.8, -1.2, -1.6, float("-inf"))
_S_TITLES = ("S = 0", "to -0.4", "to -0.8", "to -1.2", "to -1.6", "below")


def _brief(mapped: DataMap, only_suspects: bool, only_distribution: bool) -> list[Part]:
    """What people read first."""
    parts: list[Part] = []
    if not only_suspects:
        parts += rightness(mapped)
    if not only_distribution:
        parts.append(suspicion(mapped))
    if not only_suspects:
        parts += ["", brief_distribution(mapped.distribution)]
    if not only_suspects and not only_distribution:
        parts += brief_maps(mapped)
    if not only_distribution and mapped.suspects:
        _, *found = _suspects(mapped, everything=only_suspects)
        hidden = (level_column(mapped.level), "S")
        for part in found:
            if isinstance(part, Table):
                part = part.without(hidden)
            parts.append(part)
    return parts


def _distribution(rows: Sequence[DistributionRow]) -> Table:
    """P(correct) of each condition, over its prompts."""
    cells = [
        {
            "benchmark": row.benchmark,
            "split": row.split,
            "model": row.model,
            "temperature": "" if "temperature=" in row.condition else row.temperature,
            "condition": row.condition,
            "prompts": row.n_prompts,
            "draws": count_range(row.least_draws, row.most_draws),
            "mean": number(row.mean, 3),
            "sd": number(row.sd, 3),
            "P = 0": number(row.share_never, 2),
            "p25": number(row.p25, 2),
            "p50": number(row.p50, 2),
            "p75": number(row.p75, 2),
            "P = 1": number(row.share_always, 2),
            "S": number(row.mean_consistency, 2),
            "sets": number(row.mean_sets, 1),
            "suspects": row.n_suspected,
        }
        for row in rows
    ]
    hide_empty = ("split", "condition", "temperature", "S")
    return Table.of(cells, hide_empty=hide_empty, counts=("sets",), minor=_MINOR)


def _maps(mapped: DataMap) -> list[Part]:
    """Prompts by P and S, for as many conditions as a reader can take."""
    parts: list[Part] = []
    if len(mapped.distribution) > _DRAWN:
        return parts
    for shown in mapped.distribution:
        condition = (shown.model, shown.condition, shown.benchmark, shown.split)
        own = [
            row
            for row in mapped.rows
            if (row.model, row.condition, row.benchmark, row.split) == condition
        ]
        if any(row.consistency is not None for row in own):
            title = ", ".join(
                filter(
                    None, (shown.benchmark, shown.split, shown.model, shown.condition)
                )
            )
            parts += [
                "",
                f"prompts by P(correct) and S(consistency): {title}",
                "",
                _map(own),
            ]
    return parts


def _map(rows: Sequence[DataMapRow]) -> Table:
    """How many prompts lie where; rows without any are left out."""
    counts = [[0] * len(_P_ENDS) for _ in _S_ENDS]
    for row in rows:
        if row.p_correct is not None and row.consistency is not None:
            column = next(
                index for index, end in enumerate(_P_ENDS) if row.p_correct <= end
            )
            line = next(
                index for index, end in enumerate(_S_ENDS) if row.consistency >= end
            )
            counts[line][column] += 1
    cells = [
        (title, *line)
        for title, line in zip(_S_TITLES, counts, strict=True)
        if any(line)
    ]
    return Table(("", *_P_TITLES), tuple(cells))


def _suspects(mapped: DataMap, *, everything: bool) -> list[Part]:
    """How many are suspected by which thresholds, and a table of them."""
    suspects = mapped.suspects
    limits = (
        f"P <= {mapped.max_p:g}, S >= {mapped.min_s:g}, by "
        f"{mapped.grouped_by or 'no text'}"
    )
    head = f"suspected label errors: {len(suspects)} ({limits})"
    if not suspects:
        return [head]
    shown = suspects if everything else suspects[:_SHOWN]
    several = len({(row.benchmark, row.model) for row in mapped.rows}) > 1
    conditions = len({row.condition for row in mapped.rows}) > 1
    texts = distinctive(
        [row.text for row in shown],
        [row.text for row in mapped.rows] if not several else [],
    )
    cells = [
        {
            "benchmark": row.benchmark if several else "",
            "model": row.model if several else "",
            "condition": row.condition if conditions else "",
            "prompt": f"prompt:{row.prompt_id}",
            "P": number(row.p_correct, 2),
            level_column(mapped.level): interval(row.ci_low, row.ci_high, 2),
            "S": number(row.consistency, 2),
            "majority": excerpt(row.majority_answer, _EXCERPT),
            "target": excerpt(row.target, _EXCERPT),
            "question": excerpt(question, _EXCERPT),
        }
        for row, question in zip(shown, texts, strict=True)
    ]
    table = Table.of(
        cells,
        hide_empty=("benchmark", "model", "condition", "target"),
        minor=("S", "question"),
    )
    parts: list[Part] = [head, "", table]
    if len(shown) < len(suspects):
        parts.append(
            f"... and {len(suspects) - len(shown)} more: --suspects has them all"
        )
    return parts
