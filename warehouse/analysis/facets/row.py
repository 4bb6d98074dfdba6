"""Rows of scores over settings of their kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from warehouse.analysis.results import ConditionRow, Row

#: What the figure and each of its intervals are of, in words.
PROMPTS = "prompts like these, these settings"
SETTINGS = "prompts and settings like these"


@dataclass(frozen=True)
class FacetFigure(Row):
    """One setting that varies."""

    name: str  #: of the setting.
    role: str  #: ``random``, ``fixed``, or ``too_few`` values to be in the error.
    levels: tuple[str, ...]  #: its values.
    means: tuple[float, ...]  #: figure of each value; empty where not ``random``.


@dataclass(frozen=True)
class DesignRow(Row):
    """What the interval would be with more of something."""

    adds: str  #: in words; ``now`` for what there is.
    half_width: float  #: half of the interval that counts settings.
    low: float  #: if the settings vary less than they seem to.
    high: float  #: if they vary more.
    n_answers: int  #: answers that it takes, each of the fixed settings with its own.


@dataclass(frozen=True)
class TotalErrorRow(ConditionRow):
    """One model's score over the settings that are facets."""

    estimate: float | None  #: mean over prompts and conditions, all alike.
    standard_error: float | None  #: by prompts and settings; None with a ``reason``.
    standard_error_prompts: float | None  #: by prompts alone.
    ci_low: float | None  #: lower end, prompts and settings like these.
    ci_high: float | None  #: upper end.
    prompts_low: float | None  #: lower end, prompts like these with these settings.
    prompts_high: float | None  #: upper end.
    other_low: float | None  #: where one other setting would land on these prompts.
    other_high: float | None  #: upper end of it.
    level: float  #: nominal coverage of the three.
    estimand: str  #: what the interval is of, in words.
    n_prompts: int  #: prompts that are scored in some condition.
    n_clusters: int | None  #: clusters among them, where the error allows for them.
    n_conditions: int  #: conditions that count.
    n_left_out: int  #: conditions that do not, not having been run in all fixed ones.
    n_unscored: int  #: samples without a score, which are left out.
    n_samples: int  #: samples in all.
    facets: tuple[FacetFigure, ...]  #: settings that vary.
    v_prompts: float | None  #: V_I.
    df_prompts: float | None  #: ν_I.
    v: dict[str, float]  #: V_A by settings.
    r: dict[str, float]  #: R_A.
    df: dict[str, int]  #: df_A.
    v_settings: float | None  #: V_F.
    noise: float | None  #: R_F.
    t: float | None  #: squared distance that the settings add to the interval.
    df_settings: float | None  #: degrees of freedom of it.
    variance_parts: dict[
        str, float
    ]  #: what the variance is made of; some may be below 0.
    shares: dict[str, float]  #: the same as shares of those above 0.
    designs: tuple[DesignRow, ...]  #: what to add; empty where that is not defined.
    cheapest: DesignRow | None  #: that reaches the half-width that was asked for.
    floor: float | None  #: half-width that no number of prompts gets below.
    #: ``two_levels``, ``settings_dominate``, ``conditions_missing``, ``unlinked``.
    flags: tuple[str, ...]
    reason: str  #: why there is no interval over settings.
    run_ids: tuple[int, ...]  #: ids of the runs.


@dataclass(frozen=True)
class TotalDifferenceRow(Row):
    """The difference of two models over settings that both have."""

    a: str  #: the first model.
    b: str  #: the second.
    condition: str  #: settings of both that tell the row from others.
    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric.
    difference: float | None  #: a less b, prompts and conditions alike.
    standard_error: float | None  #: by prompts and settings.
    ci_low: float | None  #: lower end, prompts and settings like these.
    ci_high: float | None  #: upper end.
    prompts_low: float | None  #: lower end, prompts like these with these settings.
    prompts_high: float | None  #: upper end.
    level: float  #: nominal coverage of both.
    p_prompts: float | None  #: p with these settings.
    p_settings: float | None  #: p with settings like these, never below it.
    #: ``both``: told apart on settings like these; ``these_settings``; ``open``.
    verdict: str
    better: str  #: the model that is better on these settings; empty where it is open.
    n_prompts: int  #: prompts that both have.
    n_conditions: int  #: conditions that both have.
    n_left_out: int  #: scores that only one of both has.
    facets: tuple[FacetFigure, ...]  #: settings that vary.
    flags: tuple[str, ...]  #: as of a single model.
    reason: str  #: why there is no verdict.
    run_ids: tuple[int, ...] = field(default=())  #: ids of the runs.
