"""The question which keys of a benchmark are probably wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from warehouse.questions.options import ByMetric, Cluster, Level, OneBenchmark, Seed
from warehouse.questions.question import Option, Question


@dataclass(frozen=True)
class Audit(ByMetric, OneBenchmark, Question):
    """The posterior probability that the recorded key is wrong, for each prompt of a
    benchmark.

    ``.listed`` are the suspects, ``.plan()`` is the benchmark without them. A clean
    list proves no clean key: only what models agree on is found.

    Of each model one condition is heard, that of the last checkpoint and of those the
    newest; of these at most the 20 best that reach 0.6 of the best, at least three
    (statistics.md §14). Votes are the options with the largest log-likelihood, by the
    measure that the metric follows, or extracted answers, or short responses; free-form
    answers are compared in one form, and one that the metric calls right is a vote for
    the key.

    Raises:
        MisuseError: unknown names, no keys, fewer than three models with answers, a
            model twice, a keyword that would change nothing.
        StatisticsError: a number out of range.
        InputError: a file of verdicts that is none.
    """

    NAME = "audit"
    COMMAND = "items audit"

    _: KW_ONLY
    cluster: Cluster = None
    threshold: Annotated[
        float,
        Option(
            "List keys that are wrong with at least this probability.",
            "P",
            least=0,
            most=1,
            is_open=(True, False),
        ),
    ] = 0.1
    strata: Annotated[
        str | None,
        Option(
            "Document field, such as subject, whose values have rates of their own.",
            "FIELD",
        ),
    ] = None
    n_options: Annotated[
        int | None,
        Option(
            "Options of a prompt, where the store has letters only.",
            "N",
            ("--options",),
            least=2,
        ),
    ] = None
    effect: Annotated[
        bool, Option("How the leaderboard changes without the suspects.")
    ] = False
    against: Annotated[
        str | Path | None,
        Option("Score the list against verdicts of people: CSV or JSON lines.", "FILE"),
    ] = None
    wrong_is: Annotated[
        Sequence[str],
        Option(
            "A verdict there that means a wrong key; all others mean a right one. "
            "Repeatable.",
            "VERDICT",
        ),
    ] = ()
    sample: Annotated[
        int | None,
        Option(
            "Draw so many keys at random for people to judge, as a table.", "N", least=1
        ),
    ] = None
    certain: Annotated[
        int,
        Option(
            "Of the sample: the K most suspect keys, whatever is drawn.", "K", least=0
        ),
    ] = 0
    seed: Seed = 0
    verdicts: Annotated[
        str | Path | None,
        Option(
            "The table of a sample with verdicts of people: how many keys are wrong.",
            "FILE",
        ),
    ] = None
    level: Level = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.effect and self.verdicts is None:
            self.refuse(
                "goes with {effect} or {verdicts}: nothing else has intervals", "level"
            )
        if self.against is None and self.verdicts is None:
            self.refuse("goes with {against} or {verdicts}", "wrong_is")
        if self.sample is None:
            self.refuse("goes with {sample}", "certain", "seed")
        else:
            self.refuse(
                "is for a sample that was judged, and {sample} draws one", "verdicts"
            )
            self.refuse("has rows of its own, and so has {sample}", "effect", "against")
        if self.verdicts is not None:
            self.refuse(
                "has rows of its own, and so has {verdicts}", "effect", "against"
            )
