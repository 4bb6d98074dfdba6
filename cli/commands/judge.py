"""``judge``: judges held against people."""

from __future__ import annotations

from typing import Any

import click

from ..lazy_group import CommandGroup, group
from .judge_agreement import agreement
from .judge_labels import next_, plan


class JudgeGroup(CommandGroup):
    """Whatever is no subcommand is the benchmark, or an option, of ``judge agreement``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = [agreement.name or "", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return agreement.name, agreement, args


@group("judge", cls=JudgeGroup)
def judge() -> None:
    pass


for subcommand in (agreement, plan, next_):
    judge.add_command(subcommand)
