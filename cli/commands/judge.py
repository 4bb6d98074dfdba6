"""``judge``: judges held against people."""

from __future__ import annotations

from ..lazy_group import group
from .judge_labels import next_, plan


@group("judge")
def judge() -> None:
    pass


for subcommand in (plan, next_):
    judge.add_command(subcommand)
