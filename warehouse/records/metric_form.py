"""The form of a metric: what two names have to agree in to be names of one metric."""

from __future__ import annotations

from dataclasses import dataclass

#: Scorers whose name is that of a program: two tools name one otherwise.
PROGRAMS = ("match", "execution")


@dataclass(frozen=True)
class MetricForm:
    """How the values of a metric are to be read."""

    unit: str
    link: str  #: from the mean to the figure.
    kind: str | None  #: ``binary`` and so on; None if unknown.
    low: float | None  #: smallest possible value; None if unknown.
    high: float | None  #: largest possible value.
    higher_is_better: bool | None  #: None if unknown.
    scorer_kind: str  #: ``match``, ``execution``, ``model`` or ``human``.
    scored_by: str  #: name of the judge or the people; empty if unknown.

    def differences(self, other: MetricForm) -> list[str]:
        """In what this and another differ that one metric cannot, in words; what is
        unknown of one of them differs from nothing."""
        parts = (
            ("unit", self.unit or "none", other.unit or "none"),
            ("scale", self.link, other.link),
            ("kind", self.kind, other.kind),
            ("bounds", self._span, other._span),
            ("direction", self._direction, other._direction),
            ("scorer", self._scorer, other._scorer),
        )
        return [
            f"{what} ({own} against {of_other})"
            for what, own, of_other in parts
            if own != of_other and None not in (own, of_other)
        ]

    @property
    def _span(self) -> str | None:
        if (self.low, self.high) == (None, None):
            if self.kind == "binary":
                return "0 to 1"
            return None
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        return f"{low} to {high}"

    @property
    def _direction(self) -> str | None:
        if self.higher_is_better is None:
            return None
        if self.higher_is_better:
            return "higher is better"
        return "lower is better"

    @property
    def _scorer(self) -> str:
        if self.scorer_kind in PROGRAMS:
            return "a program"
        kind = {"model": "a judge", "human": "people"}.get(
            self.scorer_kind, self.scorer_kind
        )
        return f"{kind} {self.scored_by}".strip()
