"""The question how answers stand to targets, by metrics of the whole set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated

from warehouse.errors import MisuseError
from warehouse.questions.options import Cluster, Level, OneBenchmark, Seed
from warehouse.questions.question import Option, Question

if TYPE_CHECKING:
    from warehouse.analysis.answers.metrics import AskedMetric

CLASSES, NUMBERS = "classes", "numbers"
#: What is reported where confidence is asked for.
CONFIDENCE = "confidence"


@dataclass(frozen=True)
class AnswerMetrics(OneBenchmark, Question):
    """Answers held against targets: precision, recall, F1, balanced accuracy, Cohen's
    kappa, Matthews' correlation; of numbers errors and correlations.

    Needs stored answers and targets: scores alone do not tell. Of no model all are
    ranked; of one there are its classes, and what it takes for what; two are compared
    on the prompts that both answered.

    Raises:
        MisuseError: an unknown name, no stored answers or targets, targets that are no
            classes and no numbers.
        StatisticsError: a number out of range.
    """

    NAME = "answer_metrics"
    COMMAND = "answers"

    models: Annotated[
        Sequence[str],
        Option(
            "One model: its classes and confusions; two: the first against the second; "
            "default: all.",
            "[MODEL [MODEL]]",
            is_argument=True,
        ),
    ] = ()
    _: KW_ONLY
    metric: Annotated[
        Sequence[str],
        Option(
            "Metrics to show, the first to rank by: accuracy, balanced_accuracy, "
            "macro_f1, weighted_f1, kappa, mcc, f1, precision, recall, f2 ...; of "
            "numbers mae, rmse, r2, pearson, spearman. Repeatable, or with commas.",
            "NAME",
            ("-m", "--metric"),
        ),
    ] = ()
    of_class: Annotated[
        str | None,
        Option("Precision, recall and F1 of this class.", "NAME", ("--class",)),
    ] = None
    kind: Annotated[
        str | None,
        Option(
            "Read targets as classes or as numbers; default: by what they are.",
            flags=("--as",),
            choices=(CLASSES, NUMBERS),
        ),
    ] = None
    answered: Annotated[
        bool, Option("Only prompts with an answer; the share of them stands beside.")
    ] = False
    confidence: Annotated[
        str | None,
        Option(
            "Metric that is the model's confidence, 0 to 1: held against whether the "
            "answers are right (AUROC, Brier, calibration).",
            "METRIC",
        ),
    ] = None
    where: Annotated[
        Sequence[str],
        Option(
            "Only runs of which this holds; also FIELD!=VALUE; * and ? fit any. "
            "Repeatable.",
            "FIELD=VALUE",
        ),
    ] = ()
    latest: Annotated[
        bool, Option("Where a name fits several conditions, take the newest.")
    ] = False
    cluster: Cluster = None
    level: Level = 0.95
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.models) > 2:
            raise MisuseError(
                f"{len(self.models)} models are named: name one, two to compare, or "
                "none for all"
            )
        if self.confidence is not None:
            self._check_confidence()
            return
        metrics = self.asked_metrics()
        needing = [metric.name for metric in metrics if metric.is_of_class]
        if needing and self.of_class is None and len(self.models) != 1:
            raise MisuseError(
                f"{needing[0]} is of one class: name it with --class NAME, or take a "
                "mean over all of them, such as macro_f1"
            )
        if metrics and not needing:
            self.refuse("goes with precision, recall and F of a class", "of_class")
        if self.kind == NUMBERS:
            self.refuse("is of classes, and {kind} reads numbers", "of_class")

    def _check_confidence(self) -> None:
        """Refuse what confidence does not know.

        Raises:
            MisuseError: classes, numbers, two models, or another metric.
        """
        self.refuse(
            "reads answers, and {confidence} needs none: scores tell",
            *("of_class", "kind", "answered"),
        )
        if len(self.models) > 1:
            raise MisuseError("two models are not compared by their confidence")
        for metric in self.asked_metrics():
            if not metric.is_of_confidence:
                raise MisuseError(
                    f"{metric.name} is not of confidence: auroc, aurc, brier, log_loss, "
                    "ece, overconfidence are"
                )

    def asked_metrics(self) -> list[AskedMetric]:
        """The metrics that are asked for; none where nothing is said.

        Raises:
            MisuseError: there is none of a name.
        """
        if not self.metric:
            return []
        from warehouse.analysis.answers.metrics import asked_all

        return asked_all(self.metric)
