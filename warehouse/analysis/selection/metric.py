"""A metric of a benchmark: how its values are to be read."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from warehouse.analysis.selection.scorers import scorer_in_words

#: How far beyond a bound a value may lie that was rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Metric:
    """One metric of one benchmark: how its values are to be read."""

    benchmark_id: int
    id: int
    name: str
    filter: str
    unit: str
    link: str  #: from the (weighted) mean to the figure; ``"none"``: no mean gives the figure.
    scorer: str
    judge_model: str
    parameters_key: str
    is_default: bool  #: the benchmark's headline metric (view ``headline_metric``).
    n_runs: int  #: current runs of the benchmark that have figures of a metric of this label.
    kind: str | None
    low: float | None  #: smallest possible value of a prompt, None if unknown.
    high: float | None  #: largest possible value of a prompt.
    higher_is_better: bool | None  #: None if unknown.
    scorer_kind: str = "match"  #: of whoever scored: a program (``match``, ``execution``), ``model`` or ``human``.
    #: label in the dumps, where somebody said that it is another name of this one.
    recorded: str = ""

    @property
    def scored_by(self) -> str:
        """Who scored; empty for a plain comparison."""
        return self.judge_model or self.scorer

    @property
    def label(self) -> str:
        """``name``, or ``name,filter`` as harnesses write it."""
        if self.filter:
            return f"{self.name},{self.filter}"
        return self.name

    @property
    def bounds(self) -> tuple[float | None, float | None] | None:
        """Bounds of the values; (0, 1) for a binary metric that states none."""
        if self.low is None and self.high is None:
            if self.kind == "binary":
                return (0.0, 1.0)
            return None
        return (self.low, self.high)

    def bounds_of(
        self, smallest: float, largest: float
    ) -> tuple[float | None, float | None] | None:
        """`bounds`, None where values of the metric from ``smallest`` to ``largest``
        break them."""
        if self.bounds is None:
            return None
        low, high = self.bounds
        if low is None:
            low = -inf
        if high is None:
            high = inf
        if low - _ROUNDING <= smallest and largest <= high + _ROUNDING:
            return self.bounds
        return None

    @property
    def scale(self) -> tuple[str, ...]:
        """Parts that must agree for two figures to be on one scale and by one
        scorer."""
        return (
            self.unit,
            self.link,
            self.scorer or self.unnamed,
            self.judge_model,
            self.parameters_key,
        )

    @property
    def unnamed(self) -> str:
        """A judge, or people, without a name by what they are; empty for all others."""
        if self.scored_by or self.scorer_kind not in ("model", "human"):
            return ""
        return scorer_in_words("", self.scorer_kind)

    @property
    def told_by(self) -> str:
        """Who scored, as labels say it; empty for a program without a name."""
        return self.scored_by or self.unnamed
