"""Metrics of a whole set with their intervals: precision, recall, F, balanced accuracy,
Cohen's kappa, Matthews' correlation (statistics.md §23).

Wilson's interval at the number of prompts that would have the metric's error. Where
that error rests on a few prompts of a class their number is the most it may be: by the
delta method alone intervals of 95 % covered .20 to .91 with 5 to 20 prompts of the
class, and as they are here .92 or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.classification.confusion import LabelledAnswers
from warehouse.stats.classification.forms import (
    ACCURACY,
    BALANCED,
    MACRO,
    OF_ALL,
    OF_CLASS,
    PRECISION,
    RECALL,
    SIGNED,
    F,
    Form,
    values,
)
from warehouse.stats.classification.metric_error import (
    MetricError,
    metric_error,
    why_no_error,
)
from warehouse.stats.core.inputs import Clusters, as_level, clusters_if_any, number_of
from warehouse.stats.core.results import Interval, NamedFigures, flags_of
from warehouse.stats.intervals.closed_form import interval_wilson

#: Prompts of a class below which its metrics are flagged, and its part in a mean over
#: classes.
FEW_POSITIVES, RARE = 10, 5
#: Prompts of the smallest class below which it limits the interval of a mean over
#: classes.
SMALL_CLASS = 30
#: Clusters below which an error is flagged.
FEW_CLUSTERS = 20
#: Why a metric is None.
NEVER_ANSWERED, CONSTANT_ANSWERS, ONE_CLASS = (
    "never_answered",
    "constant_answers",
    "one_class",
)


@dataclass(frozen=True)
class SetMetric(NamedFigures):
    """A metric of a whole set of answers."""

    metric: str  #: such as ``f`` or ``balanced_accuracy``.
    of_class: str | None  #: the class that it is of; None where it is of all.
    beta: float  #: of F: how many times as much recall counts as precision.
    estimate: float | None  #: None where it is 0/0; ``reason`` says why.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    degrees_of_freedom: float | None  #: of the error.
    n_prompts: int  #: prompts.
    n_clusters: int | None  #: None without clusters.
    #: prompts with a target of its class, of precision with such an answer; of a metric
    #: of all classes those of the smallest.
    n_positive: float
    #: ``few_positives``, ``rare_class``, ``few_clusters``.
    flags: tuple[str, ...]
    #: why something is None: ``never_answered``, ``constant_answers``, ``one_class``,
    #: ``single_prompt``, ``single_cluster``; empty otherwise.
    reason: str


def set_metric(
    answers: LabelledAnswers,
    metric: str,
    of_class: str | None = None,
    *,
    beta: float = 1.0,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> SetMetric:
    """One metric with its interval.

    Args:
        answers: of a run (`labelled_answers`).
        metric: ``precision``, ``recall`` or ``f`` of a class; ``accuracy``,
            ``balanced_accuracy``, ``macro_precision``, ``macro_f``, ``weighted_f``,
            ``kappa`` or ``mcc`` of all.
        of_class: label of the class; None: of all.
        beta: of F: how many times as much recall counts as precision, above 0.
        clusters: of each prompt, integers or strings, shape (n,); None: each by itself.
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: a metric or class that there is not, or arguments out of range.

    Examples:
        >>> from warehouse.stats import labelled_answers
        >>> held = labelled_answers(list("aaabbb"), list("aababb"))
        >>> round(set_metric(held, "f", "a").estimate, 4)
        0.6667
    """
    form = form_of(answers, metric, of_class, beta)
    groups = clusters_if_any(clusters, answers.n)
    return _figure(form, answers, groups, as_level(level))


def classification_metrics(
    answers: LabelledAnswers,
    *,
    beta: float = 1.0,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[SetMetric, ...]:
    """Every metric of all classes, then precision, recall and F of each.

    Arguments and errors as for `set_metric`.
    """
    forms = [Form(metric, None, beta) for metric in OF_ALL]
    for k in range(answers.n_classes):
        forms += [Form(metric, k, beta) for metric in OF_CLASS]
    groups = clusters_if_any(clusters, answers.n)
    as_level(level)
    return tuple(_figure(form, answers, groups, level) for form in forms)


def form_of(
    answers: LabelledAnswers, metric: str, of_class: str | None, beta: float
) -> Form:
    """The metric of a class by its label.

    Raises:
        StatisticsError: no target is so called, or there is no such metric.
    """
    if of_class is None:
        return Form(metric, None, beta)
    if of_class not in answers.classes:
        raise StatisticsError(
            f"`of_class` must be a class with a target: {', '.join(answers.classes)}; "
            f"found {of_class!r}"
        )
    return Form(metric, answers.classes.index(of_class), beta)


def _figure(
    form: Form, answers: LabelledAnswers, clusters: Clusters | None, level: float
) -> SetMetric:
    value, reason = value_of(form, answers)
    n_clusters = number_of(clusters)
    of_class = None
    if form.k is not None:
        of_class = answers.classes[form.k]
    found = SetMetric(
        metric=form.metric,
        of_class=of_class,
        beta=form.beta,
        estimate=value,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=level,
        degrees_of_freedom=None,
        n_prompts=answers.n,
        n_clusters=n_clusters,
        n_positive=_positives(form, answers),
        flags=flags_of(
            few_positives=_has_few_positives(form, answers),
            rare_class=form.metric in MACRO and answers.target_counts.min() < RARE,
            few_clusters=n_clusters is not None and n_clusters < FEW_CLUSTERS,
        ),
        reason=reason,
    )
    if value is None:
        return found
    return _with_error(found, form, answers, clusters)


def _with_error(
    found: SetMetric, form: Form, answers: LabelledAnswers, clusters: Clusters | None
) -> SetMetric:
    """A metric that has a value, with its error and its interval."""
    error = metric_error(form, answers, clusters)
    if error is not None:
        found = replace(
            found,
            standard_error=error.standard_error or None,
            degrees_of_freedom=error.df,
        )
    value = found.estimate or 0.0
    interval = _interval(form, answers, value, error, found.level)
    if interval is None:
        return replace(found, reason=why_no_error(clusters))
    return replace(found, ci_low=interval.low, ci_high=interval.high)


def value_of(form: Form, answers: LabelledAnswers) -> tuple[float | None, str]:
    """The metric, and why there is none."""
    if form.metric in SIGNED and answers.n_classes == 1:
        return None, ONE_CLASS
    value = float(values(form, answers.table))
    if math.isfinite(value):
        return value, ""
    if form.metric == PRECISION:
        return None, NEVER_ANSWERED
    return None, CONSTANT_ANSWERS


def _positives(form: Form, answers: LabelledAnswers) -> float:
    if form.k is None:
        return float(answers.target_counts.min())
    if form.metric == PRECISION:
        return float(answers.table[:, form.k].sum() * answers.n)
    return float(answers.target_counts[form.k])


def _has_few_positives(form: Form, answers: LabelledAnswers) -> bool:
    return form.k is not None and _positives(form, answers) < FEW_POSITIVES


def _interval(
    form: Form,
    answers: LabelledAnswers,
    value: float,
    error: MetricError | None,
    level: float,
) -> Interval | None:
    """Wilson's at the number of prompts that the metric rests on; None without an
    error."""
    is_exact = answers.is_plain and (error is None or math.isinf(error.n_units))
    if is_exact and form.metric in (ACCURACY, RECALL, PRECISION):
        n = float(answers.n)
        if form.k is not None:
            n = _positives(form, answers)
        return wilson(value, n, level)
    if error is None:
        return None
    if form.metric == F:
        return _interval_of_f(form, answers, value, error, level, is_exact=is_exact)
    if form.metric in SIGNED:
        n = _effective(
            form, answers, (1 + value) / 2, error.standard_error / 2, error, level
        )
        unit = wilson((1 + value) / 2, n, level)
        return Interval(2 * unit.low - 1, 2 * unit.high - 1, level, "wilson")
    n = _effective(form, answers, value, error.standard_error, error, level)
    interval = wilson(value, n, level)
    if form.metric == BALANCED and math.isinf(error.n_units):
        return _hull_of_recalls(answers, value, interval, error, level)
    return interval


def wilson(share: float, n: float, level: float) -> Interval:
    """Wilson's interval of a share of n prompts, cut to [0, 1] against rounding."""
    within = min(1.0, max(0.0, share))
    return interval_wilson(within * n, n, level=level)


def _effective(
    form: Form,
    answers: LabelledAnswers,
    share: float,
    standard_error: float,
    error: MetricError,
    level: float,
) -> float:
    """Prompts n_e that would have the error, at most those that the metric rests on.

    Args:
        share: the metric, on [0, 1].
        standard_error: on that scale.
    """
    most = _most(form, answers)
    shrink = error.shrink(level)
    if not standard_error or not 0 < share < 1:
        return min(most, balanced_count(answers) * shrink, error.n_units)
    return min(most, share * (1 - share) / standard_error**2 * shrink)


def balanced_count(answers: LabelledAnswers) -> float:
    """C²/Σ(1/n_k): prompts that a plain mean over classes is worth."""
    counts = answers.target_counts
    return float(len(counts) ** 2 / (1 / counts).sum())


def _most(form: Form, answers: LabelledAnswers) -> float:
    """Prompts that an interval may rest on; infinite where there is no such number."""
    if form.k is not None:
        return _positives(form, answers)
    if form.metric == ACCURACY and not answers.is_plain:
        return float(answers.n)
    is_small = answers.target_counts.min() < SMALL_CLASS
    is_signed_pair = form.metric in SIGNED and answers.n_classes == 2
    if is_small and (form.metric in MACRO or is_signed_pair):
        return balanced_count(answers)
    return math.inf


def _interval_of_f(
    form: Form,
    answers: LabelledAnswers,
    value: float,
    error: MetricError,
    level: float,
    *,
    is_exact: bool,
) -> Interval:
    """On J = F/(2−F), for β = 1 the share of right ones among the prompts that have the
    class as target or answer: their number is Wilson's n."""
    k = form.k or 0
    table = answers.table
    n = answers.n * float(table[k].sum() + table[:, k].sum() - table[k, k])
    jaccard = value / (2 - value)
    error_j = error.standard_error * 2 / (2 - value) ** 2
    if not (is_exact and form.beta == 1):
        shrink = error.shrink(level)
        if error_j and 0 < jaccard < 1:
            n = min(n, jaccard * (1 - jaccard) / error_j**2 * shrink)
        else:
            n = min(n * shrink, error.n_units)
    ends = wilson(jaccard, n, level)
    low, high = (2 * end / (1 + end) for end in (ends.low, ends.high))
    return Interval(low, high, level, "wilson")


def _hull_of_recalls(
    answers: LabelledAnswers,
    value: float,
    interval: Interval,
    error: MetricError,
    level: float,
) -> Interval:
    """An interval of the mean recall, at least as wide as what the intervals of the
    classes' recalls give."""
    below = above = 0.0
    for k in range(answers.n_classes):
        form = Form(RECALL, k)
        recall = float(values(form, answers.table))
        own = metric_error(form, answers, None)
        ends = _interval(form, answers, recall, own, level) or interval
        below += (recall - ends.low) ** 2
        above += (ends.high - recall) ** 2
    n = answers.n_classes
    low = max(0.0, value - math.sqrt(below) / n)
    high = min(1.0, value + math.sqrt(above) / n)
    return Interval(min(interval.low, low), max(interval.high, high), level, "wilson")
