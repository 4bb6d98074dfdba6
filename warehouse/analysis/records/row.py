"""A record of a benchmark over time: what is known of it."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import ConditionRow

#: Where the day of a row is from: its run or submission, or the release of its model.
OF_RUN, OF_RELEASE = "run", "release"


@dataclass(frozen=True)
class RecordRow(ConditionRow):
    """A figure above those of all earlier days, and whether it stands. Leads are on
    common questions, above 0 where the record is better, by the metric's direction."""

    day: str  #: of the row, ``YYYY-MM-DD``.
    #: where the day is from: ``run`` (submission or run), or ``release`` of the model.
    day_of: str
    estimate: float  #: its figure, over its own questions.
    standing: str  #: the last record that stood before it, which it is held against.
    standing_condition: str  #: settings that tell that row from others.
    standing_day: str  #: day of that row.
    gain: float | None  #: its lead over that row; None without a common question.
    p_value: float | None  #: two-sided p of this lead alone; None where not defined.
    test: str  #: behind it: ``mcnemar``, else ``t``.
    n_prompts: int  #: questions that both have.
    n_clusters: int | None  #: clusters among them; None without.
    n_entries: int  #: entries after the day of that row, up to and with this day.
    p_times_entries: float | None  #: ``p_value`` times ``n_entries``, at most 1.
    needed: float  #: what that may be at most, α/(e(e + 1)) for the e-th to stand.
    stands: bool  #: whether it is shown to be better, for all entries since.
    replaced: str  #: the record before it, whether that stands or not.
    replaced_condition: str  #: settings that tell that row from others.
    step_gain: float | None  #: its lead over the record before it.
    step_p: float | None  #: two-sided p of that lead.
    step_p_holm: float | None  #: the same, by Holm over all steps.
    step_stands: bool  #: whether it is ahead there with Holm's p at most α.
    #: shown to be better by the test that was asked for: ``stands``, or ``step_stands``
    #: where records are held against those that they replaced.
    is_shown: bool
    level: float  #: 1 − α.
    run_ids: tuple[int, ...]  #: ids of its runs.
