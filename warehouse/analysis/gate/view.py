"""A verdict in words, with a row for each benchmark and what its columns mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from warehouse.analysis.comparison.words import tests_in_words
from warehouse.analysis.gate.brief import brief_view
from warehouse.analysis.gate.row import GateRow, names
from warehouse.analysis.results import Result
from warehouse.analysis.selection.policies import policy_words
from warehouse.analysis.selection.reference import in_words
from warehouse.errors import MisuseError
from warehouse.stats.paired.gate import FAIL, PASS, UNDECIDED
from warehouse.tables.view import Table, View
from warehouse.tables.words import left_out, meanings, number, p_value, times

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = (
    "split",
    "metric",
    "clusters",
    "flags",
    "p fail",
    "prompts",
    "baseline",
    "candidate",
    "as seen",
    "if equal",
)
_HIDE_EMPTY = ("split", "clusters", "reason", "cost", "p cost", "flags")
_COSTS = (
    "cost: of the candidate for each of the baseline's; it passes by p pass, the "
    "larger of both p"
)
_PROMPTS = (
    "if equal: prompts with which a candidate as good as the baseline passes with "
    "power 0.8",
    "as seen: prompts that decide if the true difference is the one that was seen",
)


#: Verdicts as a summary shows them.
MARKS = {"pass": "✅ pass", "fail": "❌ fail", "undecided": "❔ undecided"}


_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>&~$@:.-])")


def as_markdown(decision: Gate) -> str:
    """A heading, a table, and what to do."""
    return markdown_of(
        decision,
        "benchmark | verdict | candidate | baseline | difference | at least | margin | "
        "p | prompts | needed",
        map(_line, decision.rows),
        "One-sided tests of paired differences on common prompts; p adjusted for "
        f"{tests_in_words(decision.n_tests, len(decision.rows))} (Holm), alpha "
        f"{decision.alpha:g}. *At least*: lower confidence bound of the difference. "
        "*Needed*: prompts with which a candidate as good as the baseline passes with "
        "80 % power.",
    )


def markdown_of(
    decision: Any, columns: str, lines: Iterable[Sequence[str]], explained: str
) -> str:
    """The verdict of a gate, or of a sequential one, its table and notes; names from
    dumps stand as text."""
    candidate, baseline = names(decision.candidate, decision.baseline, decision.rows)
    notes = [f"{row.benchmark}: {row.reason}" for row in decision.rows if row.reason]
    notes += report_notes(decision)
    head = (
        f"### {MARKS[decision.verdict]}: {as_cell(candidate)} against "
        f"{as_cell(baseline)}"
    )
    rule = " | ".join(["---"] * len(columns.split("|")))
    inner = (columns, rule, *map(" | ".join, lines))
    table = [f"| {line} |" for line in inner]
    listed = [f"- {as_cell(note)}" for note in notes]
    if notes:
        listed.insert(0, "")
    return "\n".join([head, "", *table, "", explained, *listed, ""])


def _line(row: GateRow) -> list[str]:
    if row.verdict == "fail":
        p = row.p_fail
    else:
        p = row.p_pass
    return [
        as_cell(in_words((row.benchmark, row.split))),
        MARKS[row.verdict],
        f"{row.candidate:.4f}",
        f"{row.baseline:.4f}",
        f"{row.difference:+.4f}",
        "" if row.low is None else f"{row.low:+.4f}",
        f"{row.margin:g}",
        "" if p is None else f"{p:.2g}",
        str(row.n_prompts),
        "" if row.prompts_if_equal is None else str(row.prompts_if_equal),
    ]


def as_cell(text: str) -> str:
    """Text without a meaning in Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


#: Exit codes of the verdicts.
EXIT = {PASS: 0, FAIL: 1, UNDECIDED: 5}


@dataclass(frozen=True)
class Gate(Result):
    """The verdict over all benchmarks."""

    candidate: str  #: as given.
    baseline: str  #: as given.
    verdict: str  #: ``fail`` if one benchmark fails, else ``pass`` if all pass, else ``undecided``.
    alpha: float  #: chance of any false pass, and of any false fail.
    rows: tuple[GateRow, ...]
    left_out: tuple[str, ...]  #: benchmarks that were not compared, with the reason.
    n_tests: int  #: benchmarks, one that has several names (and one margin) once.
    notes: tuple[str, ...] = ()  #: what a reader should know of all rows.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    policy: str = ""  #: what unscored samples count as; empty: they are missing.

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 5 undecided."""
        return EXIT[self.verdict]

    @property
    def one_line(self) -> str:
        given = Counter(row.verdict for row in self.rows)
        counts = ", ".join(
            f"{given[verdict]} {verdict}" for verdict in EXIT if given[verdict]
        )
        candidate, baseline = names(self.candidate, self.baseline, self.rows)
        return f"{self.verdict}: {candidate} against {baseline} ({counts})"

    def view(self, *, verbose: bool = False) -> View:
        """The verdict, by what it is so, and what was left out.

        Args:
            verbose: every figure and both tests of each benchmark.
        """
        if verbose:
            return gate_view(self)
        both = names(self.candidate, self.baseline, self.rows)
        by = policy_words(self.policy)
        return brief_view(
            self.verdict,
            both,
            self.rows,
            self.alpha,
            report_notes(self),
            in_percent=self.is_share,
            by=by,
        )

    def to_markdown(self, *, percent: bool = False) -> str:
        """A summary for a pull request."""
        if percent:
            raise MisuseError(
                "the summary of a gate has margins as they were given: no per cent"
            )
        return as_markdown(self)


def gate_view(decision: Gate) -> View:
    """The verdict, the rows, what flags and columns mean, and what was left out."""
    rows = decision.rows
    table = Table.of(
        map(_cells, rows),
        hide_empty=_HIDE_EMPTY,
        counts=("if equal", "as seen"),
        minor=_MINOR,
    )
    below = [*meanings(chain.from_iterable(row.flags for row in rows))]
    if any(row.costs for row in rows):
        below.append(_COSTS)
    if any(row.prompts_if_equal or row.prompts_as_seen for row in rows):
        below += _PROMPTS
    return View((decision.one_line, "", table, *below), report_notes(decision))


def report_notes(decision: Any) -> tuple[str, ...]:
    """Remarks on all rows of a gate, or of a sequential one, and what was left out."""
    return (*decision.notes, *left_out(decision.left_out))


def _cells(row: GateRow) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "verdict": row.verdict,
        "candidate": number(row.candidate, 4),
        "baseline": number(row.baseline, 4),
        "difference": number(row.difference, 4),
        "at least": number(row.low, 4),
        "margin": number(row.margin, 4),
        "p pass": p_value(row.p_pass),
        "p fail": p_value(row.p_fail),
        "cost": times(row.cost_ratio),
        "p cost": p_value(row.p_cost),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "if equal": row.prompts_if_equal,
        "as seen": row.prompts_as_seen,
        "flags": row.flags,
        "reason": row.reason,
    }
