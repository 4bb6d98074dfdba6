"""The time of day; what needs another one takes it as an argument."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The time, naive UTC: as the store keeps it."""
    return aware_now().replace(tzinfo=None)


def day_in_words(moment: datetime) -> str:
    """``3 May 2026``."""
    return f"{moment.day} {moment:%B %Y}"


def aware_now() -> datetime:
    """The time, with its zone: UTC."""
    return datetime.now(UTC)
