"""Times of a cron expression: against a slow definition, and where clocks change or
jump."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.errors import MisuseError
from warehouse.schedule.loop import MOST_COUNTED, Times, Timetable, zone_named

BERLIN = ZoneInfo("Europe/Berlin")
RANGES = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day": (1, 31),
    "month": (1, 12),
    "weekday": (0, 7),
}


def local(*parts: int, fold: int = 0) -> datetime:
    return datetime(*parts, tzinfo=BERLIN, fold=fold)  # type: ignore[misc,arg-type]


def berlin(expression: str, start: datetime, count: int) -> list[str]:
    times = Times(expression, BERLIN).upcoming(start, count)
    return [one.astimezone(BERLIN).isoformat() for one in times]


# --- against a slow definition ---------------------------------------------------------------


@st.composite
def fields(draw: st.DrawFn, name: str) -> tuple[str, set[int]]:
    """A field of an expression, and the numbers that it stands for."""
    low, high = RANGES[name]
    numbers = st.integers(low, high)
    kind = draw(st.sampled_from(["star", "star", "step", "list", "range"]))
    if kind == "star":
        return "*", set(range(low, high + 1))
    if kind == "step":
        step = draw(st.integers(1, high))
        return f"*/{step}", set(range(low, high + 1, step))
    if kind == "list":
        chosen = draw(st.lists(numbers, min_size=1, max_size=3))
        return ",".join(map(str, chosen)), set(chosen)
    first, last = sorted((draw(numbers), draw(numbers)))
    return f"{first}-{last}", set(range(first, last + 1))


@settings(max_examples=150, deadline=None)
@given(
    *(fields(name) for name in RANGES),
    st.datetimes(datetime(2023, 1, 1), datetime(2029, 1, 1), timezones=st.just(UTC)),
)
def test_the_next_time_is_that_of_the_definition(
    minute: tuple[str, set[int]],
    hour: tuple[str, set[int]],
    day: tuple[str, set[int]],
    month: tuple[str, set[int]],
    weekday: tuple[str, set[int]],
    start: datetime,
) -> None:
    """cron: either day field will do, unless one of them begins with a star."""
    either = not (day[0].startswith("*") or weekday[0].startswith("*"))
    weekdays = {number % 7 for number in weekday[1]}
    expected = None
    for ahead in range(366 * 29):  # 29 February on each weekday comes within 28 years
        date = start.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(
            days=ahead
        )
        fits = (date.day in day[1], date.isoweekday() % 7 in weekdays)
        if date.month not in month[1] or not (any(fits) if either else all(fits)):
            continue
        clock = [
            date.replace(hour=h, minute=m)
            for h in sorted(hour[1])
            for m in sorted(minute[1])
        ]
        expected = next((one for one in clock if one > start), None)
        if expected is not None:
            break
    expression = " ".join(field[0] for field in (minute, hour, day, month, weekday))
    if expected is not None:
        assert Times(expression, UTC).after(start) == expected
    else:  # a day that no month has
        with pytest.raises(MisuseError, match="never fires"):
            Times(expression, UTC)


def test_weekdays_are_those_of_cron() -> None:
    sunday, monday = (
        datetime(2026, 11, 22, tzinfo=UTC),
        datetime(2026, 11, 23, tzinfo=UTC),
    )
    start = datetime(2026, 11, 20, tzinfo=UTC)  # a Friday
    for name, day in (
        ("0", sunday),
        ("7", sunday),
        ("sun", sunday),
        ("1", monday),
        ("MON", monday),
    ):
        assert Times(f"0 0 * * {name}", UTC).after(start) == day, name


def test_a_count_leaves_out_its_start_and_takes_its_end() -> None:
    hours = Times("0 * * * *", UTC)
    start, end = (
        datetime(2026, 6, 1, 12, tzinfo=UTC),
        datetime(2026, 6, 1, 15, tzinfo=UTC),
    )
    assert hours.count(start, end) == 3
    assert hours.count(start, start) == hours.count(end, start) == 0
    second = timedelta(seconds=1)
    assert (hours.count(start - second, end), hours.count(start, end - second)) == (
        4,
        2,
    )


def test_six_fields_begin_with_seconds() -> None:
    start = datetime(2026, 1, 1, 0, 0, 59, 999_999, tzinfo=UTC)
    assert [one.second for one in Times("*/20 * * * * *", UTC).upcoming(start, 4)] == [
        0,
        20,
        40,
        0,
    ]


# --- where clocks change ---------------------------------------------------------------------


def test_in_spring_a_skipped_time_runs_right_after_the_gap() -> None:
    assert berlin("30 2 * * *", local(2026, 3, 28), 3) == [
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]
    assert berlin("0 * * * *", local(2026, 3, 29, 0, 30), 3) == [
        "2026-03-29T01:00:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-29T04:00:00+02:00",
    ]


def test_in_autumn_a_repeated_time_runs_once_and_an_hourly_one_each_hour() -> None:
    assert berlin("30 2 * * *", local(2026, 10, 24), 3) == [
        "2026-10-24T02:30:00+02:00",
        "2026-10-25T02:30:00+02:00",
        "2026-10-26T02:30:00+01:00",
    ]
    # asked in the second pass of the hour: that of the first is over
    assert berlin("30 2 * * *", local(2026, 10, 25, 2, 10, fold=1), 1) == [
        "2026-10-26T02:30:00+01:00"
    ]
    times = Times("*/30 * * * *", BERLIN).upcoming(local(2026, 10, 25, 1, 29), 7)
    assert {later - one for one, later in zip(times, times[1:], strict=False)} == {
        timedelta(minutes=30)
    }


@pytest.mark.parametrize(
    "expression", ["*/7 * * * *", "13 */2 * * *", "5 2,3 * * *", "0 3 * * 0"]
)
def test_times_only_go_forward_over_a_year_of_changes(expression: str) -> None:
    times = Times(expression, BERLIN)
    for start in (local(2026, 3, 28, 23), local(2026, 10, 24, 23)):
        found = times.upcoming(start, 120)
        assert found == sorted(set(found)) and found[0] > start
        # whenever one asks, the answer is the first of the later ones
        for moment in (found[0] + timedelta(seconds=1), found[40], found[80]):
            assert times.after(moment) == next(one for one in found if one > moment)


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "0 0 30 2 *",
            "'0 0 30 2 *' never fires: no month that it names has such a day",
        ),
        ("0 0 31 2,4,6 *", "never fires"),
        ("0 0 0 30 2 *", "never fires"),
        (
            "61 * * * *",
            "minute cannot be '61'; expected minute hour day-of-month month",
        ),
        ("* 24 * * *", "hour cannot be '24'"),
        ("* * 32 * *", "day-of-month cannot be '32'"),
        ("* * * 13 *", "month cannot be '13'"),
        ("* * * * 8", "day-of-week cannot be '8'"),
        ("* * * * fri-mon", "day-of-week cannot be 'fri-mon'"),
        ("*/0 * * * *", "minute cannot be '*/0'"),
        ("1-0 * * * *", "minute cannot be '1-0'"),
        ("99 * * * * *", "second cannot be '99'"),
        ("9" * 5000 + " * * * *", "cannot be"),
        ("@hourly", "has 1 fields; expected five: minute hour"),
        ("", "has 0 fields"),
        ("* * * * * * *", "has 7 fields"),
        ("٣ * * * *", "minute cannot be"),
    ],
)
def test_an_expression_that_cannot_be_meant(expression: str, message: str) -> None:
    with pytest.raises(MisuseError) as caught:
        Times(expression, BERLIN)
    assert message in str(caught.value)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789*/,-L#W?abfrimon ٣\n\t", max_size=24))
def test_any_text_is_taken_or_refused(text: str) -> None:
    try:
        Times(text, UTC)
    except MisuseError as error:
        assert str(error)


@pytest.mark.parametrize(
    "name", ["Mars/Base", "", "..", "/etc/passwd", "Europe", "x\0y", "ü"]
)
def test_a_zone_that_is_not_there(name: str) -> None:
    with pytest.raises(MisuseError, match="no time zone"):
        zone_named(name)


def test_the_zone_of_this_machine_has_its_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    winter, summer = (
        datetime(2026, month, 1, tzinfo=zone_named(None)) for month in (1, 7)
    )
    assert (winter.utcoffset(), summer.utcoffset()) == (
        timedelta(hours=1),
        timedelta(hours=2),
    )
    monkeypatch.setenv("TZ", "Mars/Base")
    with pytest.raises(MisuseError, match="name one with --timezone"):
        zone_named(None)


# --- clocks that jump ------------------------------------------------------------------------


class Clock:
    """A time of day that somebody sets, and seconds that only go forward."""

    def __init__(self) -> None:
        self.day, self.ticks = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC), 1000.0

    def wall(self) -> datetime:
        return self.day

    def steady(self) -> float:
        return self.ticks

    def passes(self, seconds: float) -> None:
        self.day += timedelta(seconds=seconds)
        self.ticks += seconds

    def is_set(self, seconds: float) -> None:
        """Also what a machine does that slept: its seconds stood still."""
        self.day += timedelta(seconds=seconds)


def hourly() -> tuple[Clock, Timetable]:
    clock = Clock()
    return clock, Timetable(Times("0 * * * *", UTC), clock.wall, clock.steady)


def at(hour: int, day: int = 1) -> datetime:
    return datetime(2026, 6, day, hour, tzinfo=UTC)


def test_the_next_time_comes_once() -> None:
    clock, table = hourly()
    assert table.due == at(13) and table.look().left == 3570
    clock.passes(3570)
    assert table.look().left == 0 and table.begin() == (at(13), 0)
    clock.passes(40)
    assert table.finish(at(13)) == 0
    assert table.due == at(14) and table.look().left == 3560


def test_after_a_sleep_or_a_clock_set_forward_missed_times_are_one_run() -> None:
    clock, table = hourly()
    clock.is_set(10 * 3600)  # 22:00:30, ten times have come
    look = table.look()
    assert look.left < 0 and look.set_back == 0 and table.begin() == (at(13), 9)
    clock.passes(5)
    assert table.finish(clock.day - timedelta(seconds=5)) == 0 and table.due == at(23)


def test_what_was_missed_in_a_year_is_counted_to_a_bound() -> None:
    clock, table = hourly()
    clock.is_set(366 * 86_400)
    table.look()
    assert table.begin() == (at(13), MOST_COUNTED)


def test_a_clock_set_back_finds_the_next_time_anew() -> None:
    clock, table = hourly()
    clock.is_set(-86_400)  # or the scheduler would be silent for a day
    look = table.look()
    assert (look.left, look.set_back) == (3570, 86_400)
    assert table.due == datetime(2026, 5, 31, 13, tzinfo=UTC)
    clock.passes(10)
    assert table.look().set_back == 0


def test_a_clock_that_is_corrected_a_little_runs_no_job_twice() -> None:
    clock, table = hourly()
    clock.passes(3570)
    begun, _ = table.begin()
    table.finish(begun)
    clock.is_set(-2)  # 12:59:58 again
    look = table.look()
    assert (look.left, look.set_back) == (3602, 0) and table.due == at(14)


def test_times_that_a_job_outlasts_are_left_out_and_counted() -> None:
    clock, table = hourly()
    clock.passes(3570)
    begun, _ = table.begin()
    clock.passes(3 * 3600 + 60)
    assert table.finish(begun) == 3 and table.due == at(17)


def test_a_clock_set_back_during_a_job_leaves_nothing_out() -> None:
    clock, table = hourly()
    clock.passes(3570)
    begun, _ = table.begin()
    clock.is_set(-7200)
    assert table.finish(begun) == 0 and table.due == at(12)
    assert table.look().set_back == 0
