"""The report of an audit of keys: the list, as a sentence and as people are shown it,
and what is left without it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.audit.rows import (
    AuditAgreementRow,
    AuditRow,
    EffectRow,
    JudgedRow,
    SampleRow,
    StratumRow,
)
from warehouse.analysis.audit.view import (
    agreement_parts,
    brief_suspects,
    effect_parts,
    judged_parts,
    reasons_of,
    suspects_table,
)
from warehouse.analysis.results import Result
from warehouse.tables.view import Part, View
from warehouse.tables.words import counted

#: What must be read with every list.
BLIND = "it finds what models agree on: a clean list proves no clean key"
#: What the posterior is not.
NOT_CALIBRATED = (
    "P(wrong) orders keys and is not calibrated: slope .7 on one half of an audit by "
    "people, above 1 on another; audit --sample N has people judge a random sample"
)
#: The same in short.
AN_ORDER = (
    "P(wrong) puts keys in an order, and is no share of wrong ones: that people's "
    "verdicts on a sample tell (--sample)"
)


@dataclass(frozen=True)
class AuditReport(Result):
    """The prompts of a benchmark, the most suspect key first; those that cannot be
    judged last."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "prompt",
            "posterior",
            "running_fdr",
            "recorded",
            "rival",
            "votes_key",
            "votes_rival",
            "contradicts",
        ),
        "text",
    )
    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    threshold: float  #: posterior from which on a key is listed.
    n_judged: int  #: prompts whose key can be judged.
    n_refused: int  #: prompts whose key cannot, each with a reason.
    expected_wrong: float  #: sum of the posteriors of the listed; not calibrated.
    #: mean of 1 − posterior of the listed; not calibrated; None for an empty list.
    expected_fdr: float | None
    models: tuple[str, ...]  #: models whose votes were heard.
    strata_by: str | None  #: field that the strata are of; None without.
    strata: tuple[StratumRow, ...]  #: their rates.
    rows: tuple[AuditRow, ...]  #: one per prompt.
    #: one per condition, with all prompts and without the listed; empty unless asked
    #: for.
    effect: tuple[EffectRow, ...]
    level: float  #: nominal coverage of the intervals in ``effect``.
    #: with people's verdicts; empty unless they were given.
    agreement: tuple[AuditAgreementRow, ...]
    sample: tuple[SampleRow, ...]  #: keys for people to judge; empty unless asked for.
    #: what their verdicts on such a sample say of all keys; empty without.
    judged: tuple[JudgedRow, ...]
    #: why they give no recalibrated posterior; empty where they do.
    not_recalibrated: str
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def listed(self) -> tuple[AuditRow, ...]:
        """The suspects: rows that reach the threshold."""
        return tuple(row for row in self.rows if row.listed)

    @property
    def one_line(self) -> str:
        n = len(self.listed)
        among = f"{self.n_judged} keys"
        by = f"{self.benchmark}, {len(self.models)} models"
        if not n:
            return (
                f"None of {among} is suspect at {self.threshold:g} ({by}); that proves "
                "none right"
            )
        are = "are"
        if n == 1:
            are = "is"
        return (
            f"{n} of {among} {are} suspect at {self.threshold:g} "
            f"({by}){self._confirmed}"
        )

    @property
    def _in_brief(self) -> str:
        """The sentence without the threshold."""
        n = len(self.listed)
        keys = f"{counted(self.n_judged, 'key')} of {self.benchmark}"
        by = f"by what {counted(len(self.models), 'model')} answer"
        if not n:
            return f"None of {keys} looks wrong, {by}; that proves none right"
        look = "look"
        if n == 1:
            look = "looks"
        return f"{n} of {keys} {look} wrong, {by}{self._confirmed}"

    @property
    def _confirmed(self) -> str:
        """How many suspects are wrong, from people's verdicts on a random sample."""
        rows = [
            row
            for row in self.judged
            if row.figure == "wrong_rate" and row.at == self.threshold
        ]
        if not rows or rows[0].low is None or rows[0].high is None:
            if not rows:
                return "; how many of them are wrong is not known"
            return ""
        if not rows[0].n_judged:
            return "; none of them is in the sample"
        if rows[0].n_judged == rows[0].n:
            return f"; people find {rows[0].n_wrong} of them wrong"
        share = ""
        if rows[0].value is not None:
            share = f"{100 * rows[0].value:.0f} % "
        ends = f"[{100 * rows[0].low:.0f} %, {100 * rows[0].high:.0f} %]"
        return (
            f"; going by people's verdicts on a sample {share}{ends} of them are wrong"
        )

    def sample_csv(self) -> str:
        """The sample as the table that people fill in, with an empty column ``wrong``."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(SampleRow.columns())
        for row in self.sample:
            cells = row.to_dict().values()
            writer.writerow(["" if cell is None else cell for cell in cells])
        return out.getvalue()

    def view(self, *, verbose: bool = False, top: int = 20) -> View:
        """The suspects, people's verdicts, and scores without the suspects, as far as
        they were asked for.

        Args:
            top: suspects in the table; 0 for all.
        """
        if top:
            listed = self.listed[:top]
        else:
            listed = self.listed
        head = self._in_brief
        if verbose:
            head = self.one_line
        parts: list[Part] = [f"{head}."]
        if self.judged:
            why = self.not_recalibrated
            parts += [
                "",
                *judged_parts(self.judged, self.level, why, verbose=verbose),
            ]
        if listed and verbose:
            table = suspects_table(
                listed, has_strata=bool(self.strata_by), verbose=verbose
            )
            parts += ["", table]
        elif listed:
            parts += ["", brief_suspects(listed)]
        if self.effect:
            n_listed = len(self.listed)
            said = effect_parts(self.effect, n_listed, self.level, verbose=verbose)
            parts += ["", *said]
        if self.agreement:
            parts += ["", *agreement_parts(self.agreement)]
        remarks = self._remarks(len(listed), verbose=verbose)
        return View(tuple(parts), (*remarks, *self.notes))

    def _remarks(self, n_shown: int, *, verbose: bool) -> list[str]:
        """Remarks that must be read with the list, of which so many are shown."""
        remarks = []
        if n_shown < len(self.listed):
            remarks.append(
                f"{len(self.listed) - n_shown} more suspects: --top 0 has all"
            )
        if reasons := reasons_of(self.rows):
            remarks.append(f"{self.n_refused} keys cannot be judged: {reasons}")
        if not self.judged and verbose:
            remarks.append(NOT_CALIBRATED)
        elif not self.judged and n_shown:
            remarks.append(AN_ORDER)
        return [*remarks, BLIND]

    def _notebook_rows(self) -> tuple[AuditRow, ...]:
        return self.listed or self.rows

    def plan(self) -> dict[str, Any]:
        """The benchmark without the suspects, for a harness: ids of the prompts to keep
        and to leave out.

        Returns:
            ``benchmark``, ``metric``, ``threshold``, ``strata``, ``models``,
            ``n_prompts``, ``n_left_out``, ``expected_wrong``; ``prompts`` with ``id``
            (the tool's, else the key) and ``prompt`` of each that is kept; ``left_out``
            besides with ``posterior``, ``recorded`` and ``rival``. Prompts that could
            not be judged are kept.
        """
        kept = sorted(
            (row for row in self.rows if not row.listed), key=lambda row: row.key
        )
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
