"""What an audit of keys says: rows of prompts, the list as a sentence, and what is left without it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any, ClassVar

from warehouse.analysis.results import Result, Row

#: What must be read with every list.
BLIND = "it finds what models agree on: a clean list proves no clean key"
#: What the posterior is not.
NOT_CALIBRATED = (
    "P(wrong) orders keys and is not calibrated: slope .7 on one half of an audit by people, above 1 on another;"
    " audit --sample N has people judge a random sample"
)


@dataclass(frozen=True)
class AuditReport(Result):
    """The prompts of a benchmark, the most suspect key first; those that cannot be judged last."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *("prompt", "posterior", "running_fdr", "recorded", "rival", "votes_key", "votes_rival", "contradicts"),
        "text",
    )
    benchmark: str  #: its name.
    metric: str  #: name of the metric, with its filter.
    threshold: float  #: posterior from which on a key is listed.
    n_judged: int  #: prompts whose key can be judged.
    n_refused: int  #: prompts whose key cannot, each with a reason.
    expected_wrong: float  #: sum of the posteriors of the listed; not calibrated.
    expected_fdr: float | None  #: mean of 1 − posterior of the listed; not calibrated; None for an empty list.
    models: tuple[str, ...]  #: models whose votes were heard.
    strata_by: str | None  #: field that the strata are of; None without.
    strata: tuple[StratumRow, ...]  #: their rates.
    rows: tuple[AuditRow, ...]  #: one per prompt.
    #: one per condition, with all prompts and without the listed; empty unless asked for.
    effect: tuple[EffectRow, ...]
    level: float  #: nominal coverage of the intervals in ``effect``.
    agreement: tuple[AuditAgreementRow, ...]  #: with people's verdicts; empty unless they were given.
    sample: tuple[SampleRow, ...]  #: keys for people to judge; empty unless asked for.
    judged: tuple[JudgedRow, ...]  #: what their verdicts on such a sample say of all keys; empty without.
    not_recalibrated: str  #: why they give no recalibrated posterior; empty where they do.
    notes: tuple[str, ...]  #: what a reader should know.

    @property
    def listed(self) -> tuple[AuditRow, ...]:
        """The suspects: rows that reach the threshold."""
        return tuple(row for row in self.rows if row.listed)

    @property
    def one_line(self) -> str:
        n, among = len(self.listed), f"{self.n_judged} keys"
        by = f"{self.benchmark}, {len(self.models)} models"
        if not n:
            return f"None of {among} is suspect at {self.threshold:g} ({by}); that proves none right"
        are = "is" if n == 1 else "are"
        return f"{n} of {among} {are} suspect at {self.threshold:g} ({by}){self._confirmed}"

    @property
    def _confirmed(self) -> str:
        """How many suspects are wrong, from people's verdicts on a random sample."""
        rows = [row for row in self.judged if row.figure == "wrong_rate" and row.at == self.threshold]
        if not rows or rows[0].low is None or rows[0].high is None:
            return "; how many of them are wrong is not known" if not rows else ""
        if not rows[0].n_judged:
            return "; none of them is in the sample"
        if rows[0].n_judged == rows[0].n:
            return f"; people find {rows[0].n_wrong} of them wrong"
        share = "" if rows[0].value is None else f"{100 * rows[0].value:.0f} % "
        ends = f"[{100 * rows[0].low:.0f} %, {100 * rows[0].high:.0f} %]"
        return f"; going by people's verdicts on a sample {share}{ends} of them are wrong"

    def sample_csv(self) -> str:
        """The sample as the table that people fill in, with an empty column ``wrong``."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(SampleRow.columns())
        writer.writerows(["" if cell is None else cell for cell in row.to_dict().values()] for row in self.sample)
        return out.getvalue()

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


@dataclass(frozen=True)
class AuditRow(Row):
    """One prompt, and what speaks against its recorded key."""

    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    #: probability that the recorded key is wrong, by the votes: an order, not calibrated; None with a ``reason``.
    posterior: float | None
    listed: bool  #: the posterior reaches the threshold.
    running_fdr: float | None  #: mean of 1 − posterior in the list down to this row; not calibrated.
    recorded: str | None  #: the recorded key: letter and text of the option, or the answer.
    rival: str | None  #: the most probable other answer; None where that is one that nobody gave.
    rival_posterior: float | None  #: probability that the rival is the right answer.
    votes_key: float | None  #: votes for the recorded key; a model has one, split over its draws.
    votes_rival: float | None  #: votes for the rival.
    votes_unparsed: float | None  #: votes that name no option.
    n_models: int  #: models that answered.
    stratum: str | None  #: the prompt's stratum, None without strata.
    stratum_rate: float | None  #: rate of wrong keys in it, at least 2 %.
    contradicts: str | None  #: a prompt that asks the same, or nearly, and has another key; else None.
    negative: bool | None  #: models that are better on the rest do worse on it, significantly; None if unknown.
    constant: bool | None  #: all models have one score; None if unknown.
    #: models that answer it wrongly and always alike, over several generations each; None where none answered it more
    #: than once.
    datamap_models: int | None
    cluster: str | None  #: its cluster, None without.
    cluster_listed: int | None  #: prompts of this cluster that are listed, itself included.
    cluster_size: int | None  #: prompts of this cluster.
    #: the posterior on the scale of people's verdicts on a sample; None without, or with too few.
    recalibrated: float | None
    wrong: bool | None  #: the verdict of the people's audit; None without one.
    reason: str  #: why the key cannot be judged; empty if it can.
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class EffectRow(Row):
    """One condition with all prompts, and without the suspects. Figures are in the metric's reported unit."""

    model: str  #: its name.
    condition: str  #: settings that tell it from others.
    heard: bool  #: its votes helped to find the suspects.
    n_prompts: int  #: prompts with a score.
    n_kept: int  #: those that are no suspects.
    estimate: float  #: the figure with all prompts.
    estimate_kept: float | None  #: without the suspects; None if no prompt is left.
    change: float | None  #: the second minus the first.
    rank: int | None  #: place among rows that cover the whole benchmark, 1 is best, ties share it.
    rank_kept: int | None  #: place without the suspects.
    difference: float | None  #: paired difference to the leader with all prompts; None for the leader.
    ci_low: float | None  #: lower end of its interval.
    ci_high: float | None  #: upper end.
    difference_kept: float | None  #: the same difference without the suspects.
    ci_low_kept: float | None  #: lower end of its interval.
    ci_high_kept: float | None  #: upper end.
    flags: tuple[str, ...]  #: ``subset``, ``truncated``, ``failed``, ``other_prompts``, ``unscored``.


@dataclass(frozen=True)
class AuditAgreementRow(Row):
    """One figure of how well a list agrees with the people's audit."""

    #: what orders the list: ``posterior``; beside it the simple ``share_wrong`` (votes not for the key) and
    #: ``rival_votes`` (share of votes for the rival).
    score: str
    #: ``auc``, ``average_precision``, ``precision_at``, ``expected_fdr``, ``observed_fdr``, and the first two
    #: ``_within`` strata and ``_without_largest`` stratum.
    figure: str
    at: float | None  #: prompts of ``precision_at``, threshold of the rates; None otherwise.
    value: float | None  #: the figure; None where it is not defined.
    low: float | None  #: lower end of the interval of ``observed_fdr``.
    high: float | None  #: upper end.
    random: float | None  #: what a random order would give; None where that is not one number.
    n: int  #: prompts behind it.
    n_wrong: int  #: those with a wrong key.


@dataclass(frozen=True)
class StratumRow(Row):
    """The rate of wrong keys of one stratum."""

    stratum: str | None  #: its label; None where there are none.
    n_prompts: int  #: its prompts that can be judged.
    n_listed: int  #: those that are listed.
    rate: float  #: rate of wrong keys that the prompts share, at least 2 %.
    expected_wrong: float  #: sum of the posterior probabilities.


@dataclass(frozen=True)
class SampleRow(Row):
    """A key for people to judge. What the models say of it is not shown: who judges should not know."""

    benchmark: str  #: its name.
    sample: str  #: how it was drawn, the same in each row.
    key: str  #: of the prompt, the same in every store.
    id: str  #: the dump's own.
    stratum: str | None  #: the prompt's stratum, None without strata.
    probability: float  #: chance of this key to be in the sample.
    question: str  #: the prompt in full.
    options: str  #: of the prompt, one a line; empty where none are stored.
    recorded: str  #: the recorded key.
    wrong: str  #: for the verdict: 1, true, wrong, or 0, false, ok; empty or unknown where there is none.


@dataclass(frozen=True)
class JudgedRow(Row):
    """One figure of all keys, from people's verdicts on a random sample."""

    #: ``wrong_rate``: share of wrong keys, of all and from a posterior on; ``calibration``: the same between two
    #: posteriors; ``slope``, ``intercept``: log odds of a wrong key on the logit of the posterior; ``auc``: P(a wrong
    #: key before a right one), with ``_within`` and ``_between`` strata.
    figure: str
    score: str | None = None  #: ``posterior``, or ``share_wrong``: votes not for the key.
    at: float | None = None  #: posterior from which on keys count; None for all.
    value: float | None = None  #: the figure; None where no verdict tells.
    standard_error: float | None = None  #: of slopes and the intercept.
    low: float | None = None  #: lower end of the interval.
    high: float | None = None  #: upper end.
    #: lower end if all keys of the sample without a verdict were right; None where none is missing.
    bound_low: float | None = None
    bound_high: float | None = None  #: upper end if all of them were wrong.
    expected: float | None = None  #: mean posterior, of ``calibration``.
    recalibrated: float | None = None  #: mean recalibrated posterior.
    n: int | None = None  #: keys that the figure is of; None for slopes and AUC, like the next three.
    n_judged: int | None = None  #: those with a verdict.
    n_wrong: int | None = None  #: those that people find wrong.
    n_missing: int | None = None  #: keys of the sample without a verdict.
