"""What an audit of keys says: rows of prompts, the list as a sentence, and what is left without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.audit.row import AgreementRow, AuditRow, EffectRow, StratumRow
from warehouse.analysis.results import Result

#: What must be read with every list.
BLIND = "it finds what models agree on: a clean list proves no clean key"


@dataclass(frozen=True)
class AuditReport(Result):
    """The prompts of a benchmark, the most suspect key first; those that cannot be judged last.

    Attributes:
        benchmark: its name.
        metric: name of the metric, with its filter.
        threshold: posterior from which on a key is listed.
        n_judged: prompts whose key can be judged.
        n_refused: prompts whose key cannot, each with a reason.
        expected_wrong: wrong keys that are expected among the listed.
        expected_fdr: share of right keys that is expected in the list; None for an empty list. It is
            right near 2 % of wrong keys, too high where more are wrong.
        models: models whose votes were heard.
        strata_by: field that the strata are of; None without.
        strata: their rates.
        rows: one per prompt.
        effect: one per condition, with all prompts and without the listed; empty unless asked for.
        level: nominal coverage of the intervals in ``effect``.
        agreement: with people's verdicts; empty unless they were given.
        notes: what a reader should know.
    """

    notebook_columns: ClassVar[tuple[str, ...]] = (
        "prompt",
        "posterior",
        "running_fdr",
        "recorded",
        "rival",
        "votes_key",
        "votes_rival",
        "contradicts",
        "text",
    )
    benchmark: str
    metric: str
    threshold: float
    n_judged: int
    n_refused: int
    expected_wrong: float
    expected_fdr: float | None
    models: tuple[str, ...]
    strata_by: str | None
    strata: tuple[StratumRow, ...]
    rows: tuple[AuditRow, ...]
    effect: tuple[EffectRow, ...]
    level: float
    agreement: tuple[AgreementRow, ...]
    notes: tuple[str, ...]

    @property
    def listed(self) -> tuple[AuditRow, ...]:
        """The suspects: rows that reach the threshold."""
        return tuple(row for row in self.rows if row.listed)

    @property
    def one_line(self) -> str:
        """The result in one line."""
        n, among = len(self.listed), f"{self.n_judged} keys"
        by = f"{self.benchmark}, {len(self.models)} models"
        if not n:
            return f"None of {among} is suspect at {self.threshold:g} ({by}); that proves none right"
        falsely = n - self.expected_wrong
        are = "is" if n == 1 else "are"
        return f"{n} of {among} {are} suspect at {self.threshold:g}, about {falsely:.0f} of them falsely ({by})"

    def to_dict(self) -> dict[str, Any]:
        """All fields by name; rows, strata, effect and agreement are lists of dictionaries."""
        return super().to_dict() | {
            name: [row.to_dict() for row in getattr(self, name)] for name in ("strata", "effect", "agreement")
        }

    def _notebook_rows(self) -> tuple[AuditRow, ...]:
        return self.listed or self.rows

    def plan(self) -> dict[str, Any]:
        """The benchmark without the suspects, for a harness: ids of the prompts to keep and to leave out.

        Returns:
            ``benchmark``, ``metric``, ``threshold``, ``strata``, ``models``, ``n_prompts``,
            ``n_left_out``, ``expected_wrong``; ``prompts`` with ``id`` (the tool's, else the key) and
            ``prompt`` of each that is kept; ``left_out`` besides with ``posterior``, ``recorded`` and
            ``rival``. Prompts that could not be judged are kept.
        """
        kept = sorted((row for row in self.rows if not row.listed), key=lambda row: row.key)
        return {
            "benchmark": self.benchmark,
            "metric": self.metric,
            "threshold": self.threshold,
            "strata": self.strata_by,
            "models": list(self.models),
            "n_prompts": len(kept),
            "n_left_out": len(self.listed),
            "expected_wrong": self.expected_wrong,
            "note": BLIND,
            "prompts": [{"id": row.key, "prompt": row.prompt} for row in kept],
            "left_out": [
                {
                    "id": row.key,
                    "prompt": row.prompt,
                    "posterior": row.posterior,
                    "recorded": row.recorded,
                    "rival": row.rival,
                }
                for row in self.listed
            ],
        }
