"""A verdict so far in words, with a row for each benchmark and what its columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.gate.row import names
from warehouse.analysis.gate.view import (
    EXIT,
    MARKS,
    as_cell,
    markdown_of,
    report_notes,
)
from warehouse.analysis.results import BenchmarkRow, Column, Result
from warehouse.analysis.selection.reference import in_words
from warehouse.errors import MisuseError
from warehouse.stats import Outlook, SequentialTest
from warehouse.tables.view import Table, View
from warehouse.tables.words import fixed, interval, number, percentage

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("method", "metric", "unscored", "fail", "pass", "margin", "benchmark")
_HIDE_EMPTY = ("split", "reason", "pass", "fail", "expected more", "decided at")


@dataclass(frozen=True)
class SequentialRow(BenchmarkRow):
    """The verdict so far on one benchmark and split."""

    #: ``pass``: worse by less than the margin, or better; ``fail``: worse by more; else
    #: ``undecided``.
    verdict: ClassVar[Column[str]] = Column("test.verdict")
    #: estimate in favour of the candidate, in the unit of the metric; None without a
    #: score. Of a test that stopped early it lies too far out on average.
    difference: ClassVar[Column[float | None]] = Column("test.estimate")
    #: lower end of the interval of the difference, which holds however often one looks.
    ci_low: ClassVar[Column[float | None]] = Column("test.low")
    ci_high: ClassVar[Column[float | None]] = Column("test.high")  #: upper end.
    #: of the interval, 1 − alpha of this benchmark.
    level: ClassVar[Column[float]] = Column("test.level")
    margin: float  #: loss that is tolerated.
    #: prompts used: the longest scored beginning of the order, at most ``n_max``.
    n_prompts: ClassVar[Column[int]] = Column("test.n_prompts")
    n_max: int  #: the most prompts that are used.
    #: prompts of the benchmark; None where they are a sample of more.
    n_benchmark: int | None
    #: of those used, prompts that could not be scored.
    n_unscored: ClassVar[Column[int]] = Column("test.n_unscored")
    #: prompts after which the verdict stood.
    decided_at: ClassVar[Column[int | None]] = Column("test.decided_at")
    #: prompts still needed on average, if those to come are like those seen.
    expected_remaining: ClassVar[Column[float | None]] = Column("outlook.remaining")
    #: share of such continuations that pass.
    chance_pass: ClassVar[Column[float | None]] = Column("outlook.chance_pass")
    #: share that fail.
    chance_fail: ClassVar[Column[float | None]] = Column("outlook.chance_fail")
    #: ln K^+, which has to reach ``evidence_needed``; with fixed looks z. None where
    #: the margin has become impossible.
    evidence_pass: ClassVar[Column[float | None]] = Column("test.evidence_pass")
    #: ln K^−; with fixed looks −z.
    evidence_fail: ClassVar[Column[float | None]] = Column("test.evidence_fail")
    #: ln(2/alpha); with fixed looks the bound at the last look.
    evidence_needed: ClassVar[Column[float]] = Column("test.limit")
    method: str  #: ``betting``, or ``O'Brien-Fleming, K looks``.
    estimand: str  #: ``full_benchmark`` or ``prompts_sampled``.
    seed: int  #: of the order.
    #: ``baseline``, ``baseline and history``, or empty for two models that are compared
    #: prompt by prompt.
    predicted_by: str
    n_history: int  #: other models behind the predictions.
    n_beyond: int  #: prompts with a result that come after the beginning that counts.
    n_outside: int  #: prompts with a result that the baseline does not have.
    model_candidate: str  #: name of the candidate's model.
    condition_candidate: str  #: what tells its runs from the baseline's.
    model_baseline: str  #: name of the baseline's.
    condition_baseline: str  #: what tells its runs from the candidate's.
    #: ids of its runs; empty for a log that is followed.
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]  #: of the baseline's.
    reason: str  #: why there is no verdict where that is not for want of prompts.
    overall: str  #: the verdict over all benchmarks, the same in each row.
    test: SequentialTest  #: that the figures come from.
    outlook: Outlook  #: that the forecast comes from.

    PARTS = ("test", "outlook")

    @property
    def is_open(self) -> bool:
        """True if further prompts are of use: there is no verdict, and ``n_max`` is not
        reached."""
        return self.verdict == "undecided" and self.n_prompts < self.n_max

    @property
    def state(self) -> str:
        """Verdict, interval and what is left, in one line."""
        where = in_words((self.benchmark, self.split))
        text = (
            f"{where}: {self.verdict} after {self.n_prompts} of at most {self.n_max} "
            "prompts"
        )
        if (
            self.difference is not None
            and self.ci_low is not None
            and self.ci_high is not None
        ):
            text += (
                f", difference {self.difference:+.4f} [{self.ci_low:+.4f}, "
                f"{self.ci_high:+.4f}]"
            )
        if self.is_open and self.expected_remaining is not None:
            text += f", about {self.expected_remaining:.0f} more"
        return text


@dataclass(frozen=True)
class SequentialGate(Result):
    """The verdict so far over all benchmarks."""

    candidate: str  #: as given.
    baseline: str  #: as given.
    verdict: str  #: ``fail`` if one benchmark fails, else ``pass`` if all pass, else ``undecided``.
    alpha: float  #: chance of any wrong verdict, however often one looks.
    rows: tuple[SequentialRow, ...]
    left_out: tuple[str, ...]  #: benchmarks that were not compared, with the reason.
    notes: tuple[str, ...]  #: what a reader should know of the rows.

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 5 undecided."""
        return EXIT[self.verdict]

    def view(self, *, verbose: bool = False) -> View:
        """The answer, the command's table, what holds of it, and what was left out."""
        return sequential_view(self, validity(self.rows))

    def to_markdown(self, *, percent: bool = False) -> str:
        """A summary for a pull request."""
        if percent:
            raise MisuseError(
                "the summary of a gate has margins as they were given: no per cent"
            )
        return as_markdown(self)

    @property
    def one_line(self) -> str:
        candidate, baseline = names(self.candidate, self.baseline, self.rows)
        return f"{self.verdict}: {candidate} against {baseline}"


#: What holds for verdicts after every prompt, and for those at fixed looks.
ANY_TIME = (
    "Verdict and interval hold however often one asks; settings are to stay as they "
    "are."
)


FIXED_LOOKS = (
    "The verdict holds at its fixed looks alone; the interval is that of the last look "
    "that was reached."
)


#: What they are about, where prompts are not sampled: with all of them a verdict is
#: mere arithmetic.
OF_THESE = (
    " They are of the benchmark's own prompts; of others like these ask gate, or "
    "--estimand prompts-sampled."
)


def validity(rows: tuple[SequentialRow, ...]) -> str:
    """When the verdicts hold, and of what."""
    when = FIXED_LOOKS
    if all(row.method == "betting" for row in rows):
        when = ANY_TIME
    return when + OF_THESE * any(
        row.method == "betting" and row.n_benchmark is not None for row in rows
    )


def as_markdown(decision: SequentialGate) -> str:
    """A heading, a table, and when it holds; names from dumps stand as text."""
    return markdown_of(
        decision,
        "benchmark | verdict | difference | interval | margin | prompts | decided at | "
        "expected more",
        map(_line, decision.rows),
        f"Sequential test, alpha {decision.alpha:g}. {validity(decision.rows)}",
    )


def _line(row: SequentialRow) -> list[str]:
    if row.ci_low is None or row.ci_high is None:
        ends = ""
    else:
        ends = f"[{fixed(row.ci_low, 4)}, {fixed(row.ci_high, 4)}]"
    more = ""
    if row.is_open and row.expected_remaining is not None:
        more = f"{row.expected_remaining:.0f}"
    return [
        as_cell(in_words((row.benchmark, row.split))),
        MARKS[row.verdict],
        "" if row.difference is None else fixed(row.difference, 4, sign=True),
        ends,
        f"{row.margin:g}",
        f"{row.n_prompts} of {row.n_max}",
        "" if row.decided_at is None else str(row.decided_at),
        more,
    ]


def sequential_view(decision: SequentialGate, valid: str) -> View:
    """The answer, the rows, what holds of them, and what was left out.

    Args:
        valid: how the verdicts hold, in a sentence.
    """
    rows = decision.rows
    table = Table.of(
        map(_cells, rows),
        hide_empty=_HIDE_EMPTY,
        counts=("unscored", "beyond"),
        minor=_MINOR,
    )
    return View(
        (sentence(decision), "", table, "", valid, *_meanings(rows)),
        report_notes(decision),
    )


def sentence(decision: SequentialGate) -> str:
    """The answer in words."""
    candidate, baseline = names(decision.candidate, decision.baseline, decision.rows)
    if len(decision.rows) > 1:
        count = f" on {len(decision.rows)} benchmarks"
    else:
        count = f" on {decision.rows[0].benchmark}"
    says = {
        "pass": (
            f"{candidate} may take the place of {baseline}{count}: it is worse by less "
            "than the margin, or better."
        ),
        "fail": (
            f"{candidate} may not take the place of {baseline}{count}: it is worse by "
            "more than the margin."
        ),
        "undecided": (
            f"It is not settled yet whether {candidate} may take the place of "
            f"{baseline}{count}."
        ),
    }
    if decision.verdict == "undecided" and all(
        row.n_prompts >= row.n_max for row in decision.rows
    ):
        return (
            f"The prompts do not settle whether {candidate} may take the place of "
            f"{baseline}{count}."
        )
    return says[decision.verdict]


def _cells(row: SequentialRow) -> dict[str, Any]:
    fail = None
    if row.is_open:
        fail = percentage(row.chance_fail)
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "verdict": row.verdict,
        "difference": number(row.difference, 4, sign=True),
        f"{100 * row.level:.4g}% interval": interval(row.ci_low, row.ci_high, 4),
        "margin": number(row.margin, 4),
        "prompts": f"{row.n_prompts} of {row.n_max}",
        "decided at": row.decided_at,
        "expected more": round(row.expected_remaining)
        if row.is_open and row.expected_remaining is not None
        else None,
        "pass": percentage(row.chance_pass) if row.is_open else None,
        "fail": fail,
        "unscored": row.n_unscored,
        "beyond": row.n_beyond,
        "method": row.method,
        "reason": row.reason,
    }


def _meanings(rows: Sequence[SequentialRow]) -> list[str]:
    """The meaning of columns, and what predicts the candidate's scores."""
    lines: list[str] = []
    if any(row.is_open and row.expected_remaining is not None for row in rows):
        lines.append(
            "expected more: mean prompts until a verdict or the most, over 200 "
            "continuations that draw what was seen again; pass, fail: the share of "
            "them that end so."
        )
    if any(row.n_beyond for row in rows):
        lines.append(
            "beyond: prompts with results that do not count yet, as earlier ones of "
            "the order have none."
        )
    used = {(row.predicted_by, row.n_history) for row in rows if row.predicted_by}
    for by, n in sorted(used):
        others = ""
        if by != "baseline":
            others = f" and {n} other models"
        lines.append(f"The candidate's scores are predicted by the baseline's{others}.")
    return lines
