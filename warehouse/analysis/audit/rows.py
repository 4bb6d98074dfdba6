"""Rows of an audit of keys: prompts, what is left without the suspects, and figures of
people's verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row


@dataclass(frozen=True)
class AuditRow(Row):
    """One prompt, and what speaks against its recorded key."""

    prompt: str  #: ``prompt:ID``, as `show` takes it.
    key: str  #: its id in the dump, else its key.
    #: probability that the recorded key is wrong, by the votes: an order, not
    #: calibrated; None with a ``reason``.
    posterior: float | None
    listed: bool  #: the posterior reaches the threshold.
    #: mean of 1 − posterior in the list down to this row; not calibrated.
    running_fdr: float | None
    #: the recorded key: letter and text of the option, or the answer.
    recorded: str | None
    #: the most probable other answer; None where that is one that nobody gave.
    rival: str | None
    rival_posterior: float | None  #: probability that the rival is the right answer.
    #: votes for the recorded key; a model has one, split over its draws.
    votes_key: float | None
    votes_rival: float | None  #: votes for the rival.
    votes_unparsed: float | None  #: votes that name no option.
    n_models: int  #: models that answered.
    stratum: str | None  #: the prompt's stratum, None without strata.
    stratum_rate: float | None  #: rate of wrong keys in it, at least 2 %.
    #: a prompt that asks the same, or nearly, and has another key; else None.
    contradicts: str | None
    #: models that are better on the rest do worse on it, significantly; None if
    #: unknown.
    negative: bool | None
    constant: bool | None  #: all models have one score; None if unknown.
    #: models that answer it wrongly and always alike, over several generations each;
    #: None where none answered it more than once.
    datamap_models: int | None
    cluster: str | None  #: its cluster, None without.
    #: prompts of this cluster that are listed, itself included.
    cluster_listed: int | None
    cluster_size: int | None  #: prompts of this cluster.
    #: the posterior on the scale of people's verdicts on a sample; None without, or
    #: with too few.
    recalibrated: float | None
    wrong: bool | None  #: the verdict of the people's audit; None without one.
    reason: str  #: why the key cannot be judged; empty if it can.
    text: str  #: beginning of the prompt.


@dataclass(frozen=True)
class EffectRow(Row):
    """One condition with all prompts, and without the suspects. Figures are in the
    metric's reported unit."""

    model: str  #: its name.
    condition: str  #: settings that tell it from others.
    heard: bool  #: its votes helped to find the suspects.
    n_prompts: int  #: prompts with a score.
    n_kept: int  #: those that are no suspects.
    estimate: float  #: the figure with all prompts.
    estimate_kept: float | None  #: without the suspects; None if no prompt is left.
    change: float | None  #: the second minus the first.
    #: place among rows that cover the whole benchmark, 1 is best, ties share it.
    rank: int | None
    rank_kept: int | None  #: place without the suspects.
    #: paired difference to the leader with all prompts; None for the leader.
    difference: float | None
    ci_low: float | None  #: lower end of its interval.
    ci_high: float | None  #: upper end.
    difference_kept: float | None  #: the same difference without the suspects.
    ci_low_kept: float | None  #: lower end of its interval.
    ci_high_kept: float | None  #: upper end.
    #: ``subset``, ``truncated``, ``failed``, ``other_prompts``, ``unscored``.
    flags: tuple[str, ...]


@dataclass(frozen=True)
class AuditAgreementRow(Row):
    """One figure of how well a list agrees with the people's audit."""

    #: what orders the list: ``posterior``; beside it the simple ``share_wrong`` (votes
    #: not for the key) and ``rival_votes`` (share of votes for the rival).
    score: str
    #: ``auc``, ``average_precision``, ``precision_at``, ``expected_fdr``,
    #: ``observed_fdr``, and the first two ``_within`` strata and ``_without_largest``
    #: stratum.
    figure: str
    #: prompts of ``precision_at``, threshold of the rates; None otherwise.
    at: float | None
    value: float | None  #: the figure; None where it is not defined.
    low: float | None  #: lower end of the interval of ``observed_fdr``.
    high: float | None  #: upper end.
    #: what a random order would give; None where that is not one number.
    random: float | None
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
    """A key for people to judge. What the models say of it is not shown: who judges
    should not know."""

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

    #: ``wrong_rate``: share of wrong keys, of all and from a posterior on;
    #: ``calibration``: the same between two posteriors; ``slope``, ``intercept``: log
    #: odds of a wrong key on the logit of the posterior; ``auc``: P(a wrong key before
    #: a right one), with ``_within`` and ``_between`` strata.
    figure: str
    #: ``posterior``, or ``share_wrong``: votes not for the key.
    score: str | None = None
    at: float | None = None  #: posterior from which on keys count; None for all.
    value: float | None = None  #: the figure; None where no verdict tells.
    standard_error: float | None = None  #: of slopes and the intercept.
    low: float | None = None  #: lower end of the interval.
    high: float | None = None  #: upper end.
    #: lower end if all keys of the sample without a verdict were right; None where none
    #: is missing.
    bound_low: float | None = None
    bound_high: float | None = None  #: upper end if all of them were wrong.
    expected: float | None = None  #: mean posterior, of ``calibration``.
    recalibrated: float | None = None  #: mean recalibrated posterior.
    #: keys that the figure is of; None for slopes and AUC, like the next three.
    n: int | None = None
    n_judged: int | None = None  #: those with a verdict.
    n_wrong: int | None = None  #: those that people find wrong.
    n_missing: int | None = None  #: keys of the sample without a verdict.
