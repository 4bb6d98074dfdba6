"""Single prompts in the report of a benchmark: the hardest, those against the rest, and
keys that may be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from markupsafe import Markup

from warehouse.analysis.audit.read import StoredAnswers, read_answers
from warehouse.analysis.items.excerpts import distinctive, excerpt
from warehouse.analysis.items.single_prompts import (
    HardPrompts,
    Suspects,
    hard_prompts,
    suspects,
)
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads, or_why
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.charts.page_parts import heading, opened
from warehouse.stats.labels.wrong_keys import FEWEST_MODELS
from warehouse.store.connection import Store
from warehouse.tables.page import name, number, table, text

#: Prompts times models beyond which a page does not wait for an audit.
MOST_VOTES = 150_000


def _has_votes(board: Leaderboard, scores: BenchmarkScores) -> bool:
    """True if three models have answers, and not more than `MOST_VOTES`."""
    models = {
        run["model"] for run in scores.runs if run["n_generations"] or run["n_choices"]
    }
    most = max((row.n_prompts for row in board.rows), default=0)
    return len(models) >= FEWEST_MODELS and most * len(models) <= MOST_VOTES


@dataclass(frozen=True)
class PromptsSection(Section):
    """Single prompts to look at, and keys that answers speak against; there is at least
    one of the two."""

    WORDS = "Prompts"

    hard: HardPrompts | None  #: None for fewer than two conditions or prompts.
    suspects: Suspects | None  #: None where the store has too few answers.

    @classmethod
    def read(
        cls, store: Store, reads: BenchmarkReads, ranks: Ranking
    ) -> StoredAnswers | None:
        """Answers of models; None where too few have some, or too many for a page."""
        scores = reads.scores
        if not reads.board or not scores or not _has_votes(reads.board, scores):
            return None
        return or_why(lambda: read_answers(store, reads.each or scores))[0]

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """Both; None where there is neither."""
        scores = reads.each or reads.scores
        hard = None
        if reads.scores and scores:
            hard = hard_prompts(scores)
        answers = reads.own[cls]
        suspected = None
        if answers:
            suspected = suspects(answers)
        if hard or suspected:
            return cls(hard, suspected)
        return None

    @property
    def prompts(self) -> tuple[int, ...]:
        """Ids of the prompts to look at."""
        if self.hard:
            return self.hard.prompts
        return ()

    def html(self, part: BenchmarkPart, name: str) -> Markup:
        """A sentence on each, and its table behind it."""
        shown = heading(name, part.name, "Single prompts") + "\n"
        if self.hard:
            prompts = opened(
                "Prompts to look at", prompts_table(self.hard, part.name, part.prompts)
            )
            shown += Markup("<p>{}</p>\n{}").format(prompts_say(self.hard), prompts)
        shown += "\n"
        if self.suspects:
            shown += Markup("<p>{}</p>\n").format(suspects_say(self.suspects))
            if self.suspects.rows:
                shown += opened(
                    "Suspected wrong keys", suspects_table(self.suspects, part.name)
                )
        return shown


Row = Mapping[str, Any]


def prompts_say(hard: HardPrompts) -> str:
    """One sentence on single prompts."""
    share = 100 * hard.n_constant / hard.n_prompts
    negative = {0: "none goes", 1: "1 goes"}.get(
        hard.n_negative, f"{hard.n_negative} go"
    )
    return (
        f"Of {hard.n_prompts} prompts, {hard.n_constant} ({share:.0f}%) have one score "
        f"for all {hard.n_models} conditions and compare nobody; {negative} against "
        "the rest."
    )


def prompts_table(
    hard: HardPrompts, benchmark: str, prompts_by_id: Mapping[int, Row]
) -> Markup:
    """The hardest prompts, and those on which the better models do worse."""
    rows = [("against the rest", prompt, value) for prompt, value in hard.negative]
    rows += [("hardest", prompt, value) for prompt, value in hard.hardest]
    prompts = [prompts_by_id.get(prompt, {}) for _, prompt, _ in rows]
    texts = distinctive([stored.get("text") for stored in prompts])
    return table(
        f"Single prompts of {benchmark}",
        Markup(
            "Hardest: the lowest mean over conditions. Against the rest: correlation "
            "with all other prompts below 0, false ones at most 5%. All: "
            "<code>warehouse items difficulty BENCHMARK</code>."
        ),
        [
            name(
                "Single prompt",
                [
                    _called(stored, row[1])
                    for stored, row in zip(prompts, rows, strict=True)
                ],
                wrap=True,
            ),
            text("Why", [row[0] for row in rows], keep=True),
            number("Mean or correlation", [row[2] for row in rows], 2),
            text(
                "Question",
                [excerpt(question) for question in texts],
                long=True,
                minor=True,
                keep=True,
            ),
        ],
    )


def _called(prompt: Row, number_of: int) -> str:
    """Name of a prompt: the tool's id, else as ``warehouse show`` takes it."""
    return str(prompt.get("tool_id") or f"prompt:{number_of}")


def suspects_say(suspects: Suspects) -> str:
    """One sentence on keys that may be wrong."""
    judged = f"of {suspects.n_judged} keys"
    models = f"by the answers of {suspects.n_models} models"
    if not suspects.n_listed:
        return f"None {judged} is suspect {models}; that proves none right."
    are = "is"
    if suspects.n_listed > 1:
        are = "are"
    return (
        f"{suspects.n_listed} {judged} {are} suspect {models}; how many of them are "
        "wrong is not known, and others may be wrong too."
    )


def suspects_table(suspects: Suspects, benchmark: str) -> Markup:
    """The keys that answers speak against most."""
    rows = suspects.rows
    texts = distinctive([row.text for row in rows])
    return table(
        f"Suspected wrong keys of {benchmark}",
        Markup(
            "P(wrong): probability that the recorded key is wrong, by the votes of "
            "models; suspect from {threshold:g} on. All, and the leaderboard without "
            "them: <code>warehouse items audit BENCHMARK --effect</code>."
        ).format(threshold=suspects.threshold),
        [
            name("Suspected key of", [row.key for row in rows], wrap=True),
            number("P(wrong)", [row.posterior for row in rows], 2),
            text("Recorded", [row.recorded for row in rows], wrap=True, keep=True),
            text(
                "Best rival",
                [row.rival or "another" for row in rows],
                wrap=True,
                keep=True,
            ),
            text(
                "Votes",
                [f"{row.votes_key:g} : {row.votes_rival:g}" for row in rows],
                keep=True,
            ),
            text(
                "Question",
                [excerpt(question) for question in texts],
                long=True,
                minor=True,
                keep=True,
            ),
        ],
    )
