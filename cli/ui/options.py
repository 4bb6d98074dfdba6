"""Options and arguments that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from warehouse.files import ANSWER, PICTURE, write_output

from .only_benchmark import only_benchmark
from .output import Form, Output
from .output_files import OutputFile, forced
from .table import CHOSEN, WIDE, echo, print_page, recording

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
Row = TypeVar("Row")

#: How a run or model is named in every command.
REFERENCE = "MODEL[@REVISION|@step=N][+AGENT]"


_NOTHING = object()


def option(
    flags: str,
    text: str,
    type: Any = None,
    default: Any = _NOTHING,
    *,
    name: str = "",
    silent_default: Any = _NOTHING,
    **more: Any,
) -> Decorator:
    """`click.option`, said in a line.

    Args:
        flags: with what stands for the value behind them: ``-o --out FILE``.
        text: the help.
        default: which the help then names.
        name: of the command's parameter.
        silent_default: one that the help does not name, or in words of its own.
    """
    words = flags.split(" ")
    names = [word for word in words if word.startswith("-")]
    if default is not _NOTHING:
        more |= {"default": default, "show_default": True}
    if silent_default is not _NOTHING:
        more["default"] = silent_default
    metavar = " ".join(words[len(names) :]) or None
    return click.option(
        *names, *filter(None, [name]), metavar=metavar, type=type, help=text, **more
    )


def top_option(shown: str, default: int, said: str = "") -> Decorator:
    """``--top N``: how many rows people are shown, in the words of ``said`` where the
    number alone does not say it."""
    text = f"{shown}; 0 for all. [default: {said or default}; other outputs have all]"
    return option("--top N", text, click.IntRange(min=0), silent_default=default)


def length_options(function: Function) -> Function:
    """``--top N`` and ``--all``: how many rows people are shown, as ``top`` (None: those
    that matter most, 0: all)."""

    @option(
        "--top N",
        "Rows of the table; of more than 20 those that matter most are shown.",
        click.IntRange(min=1),
    )
    @option("--all", "All rows of the table.", name="show_all", is_flag=True)
    @wraps(function)
    def wrapper(*args: Any, top: int | None, show_all: bool, **others: Any) -> Any:
        return function(*args, top=0 if show_all else top, **others)

    return wrapper


class MappingFile(click.Path):
    """A mapping file that is there, or the name of a shipped one."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        from warehouse.importers.tabular.mapping_files import mapping_file

        super().convert(mapping_file(value), param, ctx)
        return value


#: What is printed for people in other forms, by option.
PAGES = {
    "markdown": "The table as Markdown, errors in brackets.",
    "latex": "The table for a paper (booktabs), errors in brackets.",
    "html": "The table as HTML, with intervals drawn.",
}


def output_options(function: Function) -> Function:
    """``--json``, ``--jsonl``, ``--csv`` and ``--parquet FILE``; the command gets
    ``output``. With ``--markdown``, ``--latex`` and ``--html`` what it prints for
    people is recorded, and written as that.

    ``--wide`` and ``--columns`` are for the table itself (`warehouse.cli.ui.table`).
    """
    return _output_options(function, PAGES)


def output_options_but(*pages: str) -> Callable[[Function], Function]:
    """:func:`output_options` of a command that has some of :data:`PAGES` in a way of
    its own."""
    return lambda function: _output_options(
        function, [name for name in PAGES if name not in pages]
    )


def _output_options(function: Function, pages: Collection[str]) -> Function:
    @option("--json", "An array of row objects.", name="as_json", is_flag=True)
    @option("--jsonl", "A row object on each line.", name="as_jsonl", is_flag=True)
    @option("--csv", "Comma-separated rows with a header.", name="as_csv", is_flag=True)
    @option(
        "--csv-safe",
        "As --csv; what a spreadsheet would run gets an apostrophe in front.",
        is_flag=True,
    )
    @option("--parquet FILE", "Write the rows to a Parquet file.", OutputFile(ANSWER))
    @option(
        "--columns NAME,...",
        "Only these columns, in this order: headings of the table; with --json or "
        "--csv its names.",
        expose_value=False,
        callback=_keep_columns,
    )
    @option(
        "--wide",
        "All columns, on a narrow terminal too.",
        is_flag=True,
        expose_value=False,
        callback=_keep_wide,
    )
    @wraps(function)
    def wrapper(
        *args: Any,
        as_json: bool,
        as_jsonl: bool,
        as_csv: bool,
        csv_safe: bool,
        parquet: Path | None,
        **others: Any,
    ) -> Any:
        percent = others.pop("percent", False)
        forms: list[Form] = []
        forms += ["json"] if as_json else []
        forms += ["jsonl"] if as_jsonl else []
        forms += ["csv"] if as_csv or csv_safe else []
        forms += ["parquet"] if parquet else []
        page = [name for name in PAGES if others.pop(f"as_{name}", False)]
        if len(forms) + len(page) > 1:
            raise click.UsageError(
                "give one of --json, --jsonl, --csv, --parquet, --markdown, --latex "
                "and --html"
            )
        output = Output(forms[0] if forms else "table", parquet, csv_safe, forced())
        if percent and not page:
            raise click.UsageError(
                f"--percent goes with {' or '.join(f'--{name}' for name in pages)}"
            )
        if not page:
            return function(*args, output=output, **others)
        with recording() as parts:
            answer = function(*args, output=output, **others)
        print_page(parts, page[0], percent=percent)
        return answer

    if pages:
        wrapper = option(
            "--percent", "With one of those: shares as 65.5 % (0.7 %).", is_flag=True
        )(wrapper)
    for name in pages:
        wrapper = click.option(
            f"--{name}", f"as_{name}", is_flag=True, help=PAGES[name]
        )(wrapper)
    return wrapper


def _keep_wide(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.meta[WIDE] = value


def _keep_columns(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> None:
    ctx.meta[CHOSEN] = fields_callback(ctx, param, value)


def picture_option(function: Function) -> Function:
    """``--svg FILE``; the command gets ``svg``, and writes it by :func:`write_picture`."""
    return option("--svg FILE", "Draw it into this file, as SVG.", OutputFile(PICTURE))(
        function
    )


def write_picture(path: Path | None, charts: Sequence[Any]) -> None:
    """Write charts below each other; nothing without a path (UsageError: there is
    nothing to draw)."""
    if path is None:
        return
    from warehouse.charts.plot import in_svg

    drawn = in_svg(charts)
    if drawn is None:
        raise click.UsageError("--svg: nothing here can be drawn")
    write_output(path, drawn.encode(), PICTURE, force=forced())
    echo(f"drawn into {path}", err=True)


def drawable(function: Function) -> Function:
    """``--svg FILE``, for :func:`draw`; the command does not get it."""

    @wraps(function)
    def wrapper(*args: Any, svg: Path | None, **values: Any) -> Any:
        return function(*args, **values)

    return picture_option(wrapper)


def draw(result: Any) -> None:
    """Write the picture of a result that ``--svg`` asked for."""
    if wants_picture():
        write_picture(click.get_current_context().params["svg"], result.charts())


def wants_picture() -> bool:
    """Whether ``--svg`` was given."""
    return click.get_current_context().params.get("svg") is not None


def benchmark_argument(*, required: bool) -> Decorator:
    """A benchmark, named first or by ``-b``; the command gets ``benchmark``.

    Args:
        required: without a name it is the only one of the store (UsageError: there are
            several).
    """

    def decorate(function: Function) -> Function:
        @click.argument(
            "benchmark",
            required=False,
            metavar="[BENCHMARK]",
        )
        @option(
            "-b --benchmark NAME",
            "The benchmark, if it is not named first.",
            name="named",
        )
        @wraps(function)
        def wrapper(
            *args: Any, benchmark: str | None, named: str | None, **others: Any
        ) -> Any:
            if benchmark is not None and named is not None:
                raise click.UsageError(
                    f"the benchmark is named twice: {benchmark} and --benchmark {named}"
                )
            chosen = benchmark if named is None else named
            if required and chosen is None:
                chosen = only_benchmark(args[0])
            return function(*args, benchmark=chosen, **others)

        return wrapper

    return decorate


def lake_option(function: Function) -> Function:
    """``--lake LOCATION``, of what changes the store."""
    return option(
        "--lake LOCATION",
        "Bring the lake there up to the store afterwards, in one version.",
    )(function)


def assignments(pairs: tuple[str, ...], option: str) -> dict[str, str]:
    """``name=value`` texts of a repeatable option as a dictionary."""
    split = [pair.partition("=") for pair in pairs]
    names = [name for name, _, _ in split]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise click.UsageError(f"{option} gives {', '.join(twice)} twice")
    return {name: value for name, _, value in split}


def size_callback(_ctx: click.Context, _param: click.Parameter, text: str) -> int:
    """A number of bytes: ``500``, ``20GB``."""
    match = re.fullmatch(
        r"(\d{1,15}(?:\.\d{1,3})?)\s*([kMGT]?)B?", text.strip(), re.IGNORECASE
    )
    if match is None:
        raise click.BadParameter(f"{text!r} is no size; expected such as 500MB or 20GB")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


def limit_options(function: Function) -> Function:
    """``--timeout SECONDS`` and ``--memory SIZE``, of what runs queries; the command
    gets ``limits``."""

    @option(
        "--timeout SECONDS", "Stop a query that takes longer; 0: never.", float, 300.0
    )
    @option(
        "--memory SIZE",
        "Memory that a query may use here, such as 16GB.  [default: less than half of "
        "the machine's]",
        callback=lambda ctx, param, text: (
            size_callback(ctx, param, text) if text else 0
        ),
    )
    @wraps(function)
    def wrapper(*args: Any, timeout: float, memory: int, **others: Any) -> Any:
        from warehouse.store.engines import Limits

        return function(*args, limits=Limits(timeout, memory), **others)

    return wrapper


def pairs_callback(
    _ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse texts that are not ``name=value``."""
    for text in value:
        if not text.partition("=")[0] or "=" not in text:
            raise click.BadParameter(f"'{text}' is not NAME=VALUE", param=param)
    return value


def fields_callback(
    _ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[str, ...]:
    """``FIELD[,FIELD]`` as a tuple of names."""
    names = tuple(name.strip() for name in (value or "").split(",")) if value else ()
    if not all(names):
        raise click.BadParameter(f"'{value}' has an empty field name", param=param)
    return names


def whole_numbers(
    _ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """``1,2,5`` as a tuple of whole numbers above 0, without repetition."""
    if value is None:
        return None
    try:
        numbers = tuple(dict.fromkeys(int(part) for part in value.split(",")))
    except ValueError:
        raise click.BadParameter(
            f"'{value}' is not a list such as 1,2,5", param=param
        ) from None
    if min(numbers) < 1:
        raise click.BadParameter(f"'{value}' holds a number below 1", param=param)
    return numbers


def decimal_numbers(
    _ctx: click.Context, param: click.Parameter, value: str
) -> tuple[float, ...]:
    """``.5,.8`` as a tuple of numbers, without repetition."""
    try:
        return tuple(dict.fromkeys(float(part) for part in value.split(",")))
    except ValueError:
        raise click.BadParameter(
            f"'{value}' is not a list such as 0.5,0.8", param=param
        ) from None


def is_typed(name: str) -> bool:
    """Whether the command's option of this name was given, not taken from its default."""
    return (
        click.get_current_context().get_parameter_source(name)
        is ParameterSource.COMMANDLINE
    )


def typed(names: Iterable[str]) -> list[str]:
    """Those that were given on the command line."""
    return [name for name in names if is_typed(name)]


def refuse_typed(reason: str, *names: str) -> None:
    """Refuse options that would change nothing here.

    Raises:
        UsageError: one of them was given; ``reason`` follows its name.
    """
    for param in click.get_current_context().command.params:
        if param.name in names and is_typed(param.name):
            raise click.UsageError(f"{max(param.opts, key=len)} {reason}")


def first_rows(rows: Sequence[Row], top: int, output: Output) -> Sequence[Row]:
    """What ``--top N`` leaves: without it a table has its default number of rows, other
    outputs have all; 0: all."""
    if top and (output.for_people or is_typed("top")):
        return rows[:top]
    return rows
