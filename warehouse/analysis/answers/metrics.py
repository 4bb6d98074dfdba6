"""Names of metrics of a whole set, as people give them and as they are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.errors import MisuseError, did_you_mean

#: Metrics of all classes and of one, of numbers, by name, and as a heading.
OF_ALL = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "macro_precision": "macro precision",
    "macro_f1": "macro F1",
    "weighted_f1": "weighted F1",
    "kappa": "kappa",
    "mcc": "MCC",
}
OF_CLASS = {"precision": "precision", "recall": "recall", "f1": "F1"}
OF_NUMBERS = {
    "mae": "MAE",
    "mse": "MSE",
    "rmse": "RMSE",
    "r2": "R2",
    "pearson": "Pearson",
    "spearman": "Spearman",
}
OF_CONFIDENCE = {
    "auroc": "AUROC",
    "aurc": "AURC",
    "brier": "Brier",
    "log_loss": "log loss",
    "ece": "ECE",
    "overconfidence": "overconfidence",
}
#: What is shown of a table of models where nothing is asked for, the first to order by.
BOARD = ("macro_f1", "mcc", "accuracy")
BOARD_OF_CLASS = ("f1", "precision", "recall")
BOARD_OF_NUMBERS = ("mae", "rmse", "spearman", "pearson")
BOARD_OF_CONFIDENCE = ("auroc", "aurc", "brier", "ece", "overconfidence")
#: Metrics that are better where they are low.
LOW_IS_GOOD = ("mae", "mse", "rmse", "aurc", "brier", "log_loss", "ece")
#: Metrics of text, which are no functions of counts.
_OF_TEXT = ("bleu", "corpus_bleu", "sacrebleu", "chrf", "ter", "rouge")
_F = re.compile(r"(macro_|weighted_|)f(\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class AskedMetric:
    """A metric that is asked for."""

    name: str  #: such as ``macro_f1``; with another β its number: ``f2``.
    form: str  #: how `warehouse.stats` calls it, such as ``macro_f``.
    beta: float = 1.0  #: of F: how many times as much recall counts as precision.

    @property
    def heading(self) -> str:
        """As a column."""
        known = OF_ALL | OF_CLASS | OF_NUMBERS | OF_CONFIDENCE
        if self.name in known:
            return known[self.name]
        kind = self.form.removesuffix("f").replace("_", " ")
        return f"{kind}F{self.beta:g}"

    @property
    def is_of_class(self) -> bool:
        """Whether it is of one class."""
        return self.form in ("precision", "recall", "f")

    @property
    def is_of_numbers(self) -> bool:
        """Whether it is of numeric answers."""
        return self.form in OF_NUMBERS

    @property
    def is_of_confidence(self) -> bool:
        """Whether it is of stored confidence."""
        return self.form in OF_CONFIDENCE

    @property
    def is_share(self) -> bool:
        """Whether it is a share, which people read in percent."""
        others = self.is_of_numbers or self.is_of_confidence
        return not self.is_signed and not others

    @property
    def is_signed(self) -> bool:
        """Whether it runs from −1 to 1, and is no share."""
        return self.form in ("kappa", "mcc")


def asked(name: str) -> AskedMetric:
    """The metric of a name, also ``f2`` or ``macro_f0.5``.

    Raises:
        MisuseError: there is none.

    Examples:
        >>> asked("macro-F1").form, asked("f2").beta
        ('macro_f', 2.0)
    """
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    found = _F.fullmatch(plain)
    if found and float(found[2]) > 0:
        beta = float(found[2])
        return AskedMetric(f"{found[1]}f{beta:g}", f"{found[1]}f", beta)
    known = {**OF_ALL, **OF_CLASS, **OF_NUMBERS, **OF_CONFIDENCE}
    if plain in known:
        return AskedMetric(plain, plain)
    if plain in _OF_TEXT:
        raise MisuseError(
            f"{name} is no function of answers and targets that are counted: it is "
            "computed from whole texts, by the tool that ran the evaluation; what it "
            "stored is ranked by: warehouse leaderboard BENCHMARK --metric NAME"
        )
    if plain.startswith("micro_"):
        raise MisuseError(
            f"{name} is the accuracy where a prompt has one answer: --metric accuracy"
        )
    there = f"there are: {', '.join(known)}, and f2, macro_f0.5 and the like"
    raise MisuseError(
        f"no metric of answers is called {name!r}; {did_you_mean(plain, known, there)}"
    )


def asked_all(names: Sequence[str]) -> list[AskedMetric]:
    """The metrics of some names, each once; several may stand in one text, with
    commas."""
    found: dict[str, AskedMetric] = {}
    for text in names:
        for name in text.split(","):
            metric = asked(name)
            found[metric.name] = metric
    return list(found.values())
