"""What was found over all benchmarks: who leads where, where nobody can be told, and where
there is nothing to rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup

from warehouse.analysis.leaderboard.places import BEST, TIE, places_of
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.leaderboard.words import first_group
from warehouse.analysis.suites.row import SuiteRow
from warehouse.tables.words import counted

#: What a leaderboard says of its first row.
LEADS, TIED, ALONE, UNTESTED = "leads", "tied", "alone", "untested"
#: Benchmarks and leaders that a sentence names.
_MOST_BENCHMARKS, _MOST_LEADERS = 3, 4


@dataclass(frozen=True)
class Leader:
    """The first row of a leaderboard."""

    kind: (
        str  #: `LEADS`, `TIED` with others, `ALONE` with nobody beside it, `UNTESTED`.
    )
    model: str  #: its name.


class FoundColumn(Protocol):
    """A benchmark with its leader."""

    @property
    def name(self) -> str:
        """Of the benchmark."""

    @property
    def leader(self) -> Leader | None:
        """Of its leaderboard; None where nothing is ranked."""


def leader_of(
    rows: Sequence[LeaderboardRow] | Sequence[SuiteRow], higher_is_better: bool | None
) -> Leader | None:
    """The first of a leaderboard, and whether tests tell it from all others; None where
    nothing is ranked.

    Args:
        rows: of the leaderboard.
        higher_is_better: direction of its metric; nobody leads where it is not known.
    """
    ranked = first_group([row for row in rows if row.rank is not None])
    if not ranked:
        return None
    model = ranked[0].model
    if len(ranked) == 1:
        return Leader(ALONE, model)
    places = places_of(ranked, higher_is_better)
    verdicts = [place.verdict if place else "" for place in places]
    if verdicts[0] != BEST or "" in verdicts:
        return Leader(UNTESTED, model)
    if TIE in verdicts or places[0] is None or places[0].high > 1:
        return Leader(TIED, model)
    return Leader(LEADS, model)


def found_in_words(columns: Sequence[FoundColumn]) -> list[Markup]:
    """Sentences on all benchmarks, as HTML; none for fewer than two."""
    if len(columns) < 2:
        return []
    return list(_sentences(columns))


def _sentences(columns: Sequence[FoundColumn]) -> Iterator[Markup]:
    leads: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {TIED: [], UNTESTED: [], ALONE: []}
    for column in columns:
        leader = column.leader
        if leader is None:
            others[ALONE].append(column.name)
        elif leader.kind == LEADS:
            leads.setdefault(leader.model, []).append(column.name)
        else:
            others[leader.kind].append(column.name)
    if leads:
        yield _who_leads(leads)
    if others[TIED]:
        where = _some(others[TIED], "benchmark")
        yield Markup("On {} the best cannot be told from others.").format(where)
    if others[UNTESTED]:
        where = _some(others[UNTESTED], "benchmark")
        yield Markup("On {} no difference is tested.").format(where)
    if others[ALONE]:
        where = _some(others[ALONE], "benchmark")
        yield Markup("On {} there is one model or none, so nothing is ranked.").format(
            where
        )


def _who_leads(leads: dict[str, list[str]]) -> Markup:
    """Who leads where, the most often first."""
    order = sorted(leads.items(), key=lambda item: -len(item[1]))
    parts = [
        Markup("<bdi><b>{}</b></bdi> leads on {}").format(
            model, _some(benchmarks, "benchmark")
        )
        for model, benchmarks in order[:_MOST_LEADERS]
    ]
    left = order[_MOST_LEADERS:]
    if left:
        n_benchmarks = sum(len(benchmarks) for _, benchmarks in left)
        words = f"{counted(len(left), 'other model')} on {counted(n_benchmarks, 'benchmark')}"
        parts.append(Markup("{}").format(words))
    return Markup("{}.").format(Markup("; ").join(parts))


def _some(names: Sequence[str], noun: str) -> Markup:
    """A few names; of more how many there are."""
    if len(names) > _MOST_BENCHMARKS:
        return Markup("{}").format(counted(len(names), noun))
    marked = [Markup("<bdi>{}</bdi>").format(name) for name in names]
    if len(marked) == 1:
        return marked[0]
    return Markup("{} and {}").format(Markup(", ").join(marked[:-1]), marked[-1])
