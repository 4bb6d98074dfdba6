"""Options that name a file to be written: looked at before a command does its work,
again before it writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click

from warehouse.files import OutputKind, is_stream

from ..state import State

#: Where a call keeps that the user said ``--force`` (`click.Context.meta`), where it
#: means files alone.
_FORCED = "warehouse.force"
#: Help of the option, and its addition where the command already uses the name
#: otherwise.
HELP = "Replace a file of somebody else's, which is not done otherwise."
BESIDES = "Also replaces a file of somebody else's that {} names."


#: Parameters of every command that answers with a table, and those of its pages and
#: pictures: `warehouse help output` says them once.
TABLES = {"as_json", "as_jsonl", "as_csv", "csv_safe", "parquet", "columns", "wide"}
OUTPUTS = TABLES | {"as_markdown", "as_latex", "as_html", "percent", "svg"}
#: Those of them that each help names.
_NAMED = ("--json", "--csv", "--markdown", "--svg")


class OutputFile(click.Path):
    """A file that a command writes.

    Args:
        kind: what it is; None: the command itself looks at what stands there.
    """

    def __init__(self, kind: OutputKind | None) -> None:
        super().__init__(path_type=Path)
        self.kind = kind


class Command(click.Command):
    """A command that refuses, before it begins, files that must not be written."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        named = [
            _name(param)
            for param in self.params
            if isinstance(param.type, OutputFile) and param.type.kind
        ]
        if not named:
            return
        force = next((param for param in self.params if param.name == "force"), None)
        if force is None:
            self.params.append(
                click.Option(
                    ["--force"],
                    is_flag=True,
                    expose_value=False,
                    callback=_keep_force,
                    help=HELP,
                )
            )
        elif (
            isinstance(force, click.Option)
            and force.help
            and "eplace" not in force.help
        ):
            force.help += f" {BESIDES.format(' or '.join(named))}"

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """The options, those of output as one line."""
        own = [
            param
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and param.name not in OUTPUTS
        ]
        records = [record for param in own if (record := param.get_help_record(ctx))]
        if records:
            with formatter.section("Options"):
                formatter.write_dl(records)
        flags = set(
            chain.from_iterable(
                param.opts for param in self.params if param.name in OUTPUTS
            )
        )
        if flags:
            named = ", ".join(flag for flag in _NAMED if flag in flags)
            formatter.write(f"\nOutput: {named} …; see: warehouse help output\n")

    def invoke(self, ctx: click.Context) -> Any:
        _look_at_outputs(self, ctx)
        return super().invoke(ctx)


def forced() -> bool:
    """Whether the user said ``--force``."""
    context = click.get_current_context()
    return bool(context.params.get("force") or context.meta.get(_FORCED))


def writes() -> bool:
    """Whether the user named a file to be written."""
    context = click.get_current_context()
    return any(_given(context.command, context, written=True))


def _keep_force(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.meta[_FORCED] = value


def _look_at_outputs(command: click.Command, ctx: click.Context) -> None:
    outputs = [
        (param, Path(ctx.params[param.name]))
        for param in _given(command, ctx, written=True)
    ]
    if ctx.meta.get(_FORCED) and not outputs:
        files = (
            _name(param)
            for param in command.params
            if isinstance(param.type, OutputFile)
        )
        raise click.UsageError(f"--force goes with {' or '.join(files)}", ctx)
    for index, (param, path) in enumerate(outputs):
        for other, earlier in outputs[:index]:
            if _is_same(path, earlier):
                raise click.UsageError(
                    f"{_name(other)} and {_name(param)} name one file: {path}", ctx
                )
        for read in _inputs(command, ctx):
            if _is_same(path, read):
                raise click.UsageError(
                    f"{_name(param)} names a file that is read: {path}; name another "
                    "file",
                    ctx,
                )
        if param.type.kind is not None:
            ctx.ensure_object(State).will_write(path, param.type.kind, force=forced())


def _name(param: click.Parameter) -> str:
    return max(param.opts, key=len)


def _given(
    command: click.Command, ctx: click.Context, *, written: bool
) -> Iterator[Any]:
    """Options and arguments that name a file, and were given."""
    for param in command.params:
        is_file = (
            isinstance(param.type, click.Path)
            and isinstance(param.type, OutputFile) == written
        )
        if is_file and ctx.params.get(str(param.name)):
            yield param


def _inputs(command: click.Command, ctx: click.Context) -> Iterator[Path]:
    for param in _given(command, ctx, written=False):
        value = ctx.params[param.name]
        yield from map(Path, value if isinstance(value, tuple) else (value,))


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file, which need not be there."""
    if is_stream(path):
        return False
    try:
        return os.path.samefile(path, other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)
