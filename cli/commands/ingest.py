"""``ingest`` and ``mapping``: dumps into the store, and mappings for tables of
somebody's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import COPY, MAPPING, write_output

from ..lazy_group import command
from ..state import State, is_missing
from ..ui.options import (
    MappingFile,
    fields_callback,
    lake_option,
    option,
    refuse_typed,
    size_callback,
)
from ..ui.output import Output
from ..ui.output_files import OutputFile
from ..ui.table import echo, excerpt, print_rows

if TYPE_CHECKING:
    from warehouse.ingest.file_rules import FileRules
    from warehouse.ingest.report import IngestReport
    from warehouse.store.connection import Store
    from warehouse.store.load.state import LoadOptions


REFUSED = 3


class PathOrUrl(click.Path):
    """A file or folder that is there, or a URL."""

    def __init__(self) -> None:
        super().__init__(exists=True, readable=False)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        from warehouse.ingest.remote_hosts import is_url

        if is_url(value):
            return value
        return super().convert(value, param, ctx)


@command("ingest")
@click.argument(
    "paths", metavar="PATH|URL...", nargs=-1, required=True, type=PathOrUrl()
)
@option(
    "--map --mapping FILE|NAME",
    "Mapping (TOML) for tabular dumps, or the name of a shipped one.",
    MappingFile(),
    name="mapping",
)
@option(
    "--no-map",
    "Take no shipped mapping by the shape of a file that nobody knows.",
    is_flag=True,
)
@option(
    "--set FIELD=VALUE",
    "Holds whatever the dumps say: step, temperature ... Repeatable.",
    name="values",
    multiple=True,
)
@option(
    "--default FIELD=VALUE",
    "Fills what the dumps lack: model, benchmark ... Repeatable.",
    name="defaults",
    multiple=True,
)
@option(
    "--force",
    "Let --set model=NAME rename several models that have names.",
    is_flag=True,
)
@option(
    "--higher-is-better/--lower-is-better",
    "Direction of the metrics of which the dumps say none.",
    silent_default=None,
)
@option("--format F", "Importer; default: found by content.", name="format_name")
@option(
    "--cluster-by FIELD[,FIELD]",
    "Cluster prompts by these document fields, for error bars too.",
    callback=fields_callback,
)
@option(
    "--on-conflict",
    "A run that is stored says something else in the dump.",
    click.Choice(["error", "skip", "supersede"]),
    "error",
)
@option(
    "--on-duplicate",
    "Two rows for one sample with different values.",
    click.Choice(["error", "first", "last", "draws"]),
    "error",
)
@option(
    "--beside",
    "Keep what the same bytes were read as before, too, in place of replacing it.",
    is_flag=True,
)
@option(
    "--max-rejected N",
    "Bad rows per source before it is refused.",
    click.IntRange(min=0),
    0,
)
@option(
    "--text",
    "Texts to store: prompts as sent and responses.",
    click.Choice(["all", "responses", "none"]),
    "all",
)
@option(
    "--max-files N", "Files to fetch at most from URLs.", click.IntRange(min=1), 10_000
)
@option(
    "--max-bytes SIZE",
    "Bytes to fetch at most from URLs.",
    default="20GB",
    callback=size_callback,
)
@option(
    "--max-time SECONDS",
    "Seconds that fetching from URLs may take.",
    click.FloatRange(min=0, min_open=True),
    7200,
)
@option(
    "--allow-private",
    "Let web servers redirect to this machine and private networks.",
    is_flag=True,
)
@option(
    "--on URL",
    "Read the dumps on executors of a server: sc://HOST:PORT, or sail: in this "
    "process.",
)
@lake_option
@option("--dry-run", "Read and check everything, store nothing.", is_flag=True)
@option(
    "--publish PATH",
    "Publish a read-only copy there afterwards, if anything was stored.",
    OutputFile(None),
)
@option(
    "--watch",
    "Stay, and ingest what comes into the folders once it has settled.",
    is_flag=True,
)
@option(
    "--settle SECONDS",
    "With --watch: a file is ready when it has not changed for so long. [default: 2]",
    click.FloatRange(min=0),
)
@option("--json", "An array with one object per source.", name="as_json", is_flag=True)
def ingest(state: State, /, watch: bool, settle: float | None, **given: Any) -> None:
    _refuse_limits_of_urls(given["paths"])
    if given["dry_run"] and (given["publish"] or given["lake"]):
        raise click.UsageError(
            "--dry-run stores nothing: it goes with neither --publish nor --lake"
        )
    if given["publish"]:
        state.will_write(given["publish"], COPY, force=False)
    if watch:
        _watch(state, given, 2.0 if settle is None else settle)
        return
    if settle is not None:
        raise click.UsageError("--settle goes with --watch")
    report = _ingest(state, given)
    from ..ui.ingest_summary import print_errors, print_summary

    if given["as_json"]:
        from warehouse.store.load.state import LoadReport

        Output("json").emit_records(LoadReport, report.sources)
        print_errors(report.refused, show_all=state.verbose)
    else:
        print_summary(report, state, dry_run=given["dry_run"])
    _publish(state, given, report)
    click.get_current_context().exit(REFUSED if report.refused else 0)


def _refuse_limits_of_urls(paths: Sequence[str]) -> None:
    from warehouse.ingest.remote_hosts import is_url

    if not any(map(is_url, paths)):
        refuse_typed(
            "is for what is fetched from URLs",
            "max_files",
            "max_bytes",
            "max_time",
            "allow_private",
        )


def _reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """What decides which files form a source, and what is read of it."""
    from warehouse.importers.common.header_values import parse_values

    return {
        "format": given["format_name"],
        "values": parse_values(given["values"]),
        "mapping": given["mapping"],
        "defaults": parse_values(given["defaults"]),
        "higher_is_better": given["higher_is_better"],
    }


def _load_options(given: Mapping[str, Any]) -> LoadOptions:
    """What to do about conflicts, duplicates and bad rows."""
    from warehouse.store.load.state import LoadOptions

    names = (
        "on_conflict",
        "on_duplicate",
        "text",
        "max_rejected",
        "cluster_by",
        "beside",
    )
    return LoadOptions(**{name: given[name] for name in names})


def _publish(state: State, given: Mapping[str, Any], report: IngestReport) -> None:
    from .store import publish_after

    if not given["dry_run"] and any(item.state == "loaded" for item in report.sources):
        publish_after(state, "ingest", given["publish"])


def _watch(state: State, given: Mapping[str, Any], settle: float) -> None:
    from warehouse.ingest.pipeline import ingest as load
    from warehouse.ingest.remote_hosts import is_url
    from warehouse.ingest.watch import Watcher

    from .store import publish_after
    from .watch import watch

    if given["dry_run"] or given["as_json"]:
        raise click.UsageError("--watch goes with neither --dry-run nor --json")
    if given["on"] or given["lake"]:
        raise click.UsageError(
            "--watch goes with neither --on nor --lake; run ingest again, from cron say"
        )
    if any(map(is_url, given["paths"])):
        raise click.UsageError(
            "--watch goes with folders of this machine; warehouse schedule reads URLs "
            "again and again"
        )
    rules = _rules(state, given)
    watcher = Watcher(given["paths"], settle=settle, rules=rules, **_reading(given))

    def ingest_ready(
        only: Callable[[Sequence[Path]], bool], progress: Any
    ) -> IngestReport:
        with state.open_or_create() as store:
            there = [path for path in given["paths"] if Path(path).exists()]
            report = load(
                store,
                there,
                options=_load_options(given),
                force=given["force"],
                progress=progress,
                only=only,
                rules=rules,
                **_reading(given),
            )
            return _looked_at(store, report)

    watch(
        state,
        watcher,
        ingest_ready,
        lambda: publish_after(state, "ingest", given["publish"]),
    )


def _ingest(state: State, given: Mapping[str, Any]) -> IngestReport:
    from warehouse.ingest.discover import discover
    from warehouse.ingest.nothing_found import refuse_nothing
    from warehouse.ingest.pipeline import load
    from warehouse.ingest.remote import FetchLimits, fetched
    from warehouse.ingest.remote_hosts import shown_url

    from ..ui.progress import fetching, progress

    reading = _reading(given)  # a mistake in it is said before anything is fetched
    with ExitStack() as stack:
        with fetching(state.quiet) as shown:
            limits = FetchLimits(
                given["max_files"],
                given["max_bytes"],
                given["max_time"],
                given["allow_private"],
            )
            local = stack.enter_context(
                fetched(given["paths"], limits=limits, progress=shown)
            )
        discovered = local.named(
            discover(
                local.paths,
                options=_load_options(given),
                force=given["force"],
                rules=_rules(state, given),
                **reading,
            )
        )
        refuse_nothing(
            discovered,
            [shown_url(path) for path in given["paths"]],
            format=given["format_name"],
            mapping=given["mapping"],
            known={**reading["values"], **reading["defaults"]},
        )
        with _target(state, given["dry_run"]) as store, progress(state.quiet) as bar:
            report = load(
                store,
                discovered,
                dry_run=given["dry_run"],
                progress=bar,
                on=given["on"],
                lake=given["lake"],
            )
            return report if given["dry_run"] else _looked_at(store, report)


def _looked_at(store: Store, report: IngestReport) -> IngestReport:
    """A report that also says which new runs are no mere repeats of those that they
    joined, and what is wrong with published figures."""
    from warehouse.analysis.board.published_notes import notes_on_published

    told = _with_repeats_told(store, report)
    return told.with_notes(notes_on_published(store, report.new_runs))


def _with_repeats_told(store: Store, report: IngestReport) -> IngestReport:
    """A report that also says which new runs are no mere repeats of those that they
    joined."""
    if not report.joined_runs:
        return report
    from warehouse.analysis.repeats.joined import notes_on_joined

    return report.with_changed(notes_on_joined(store, report.joined_runs))


def _rules(state: State, given: Mapping[str, Any]) -> FileRules:
    """How files are read by their paths and shapes."""
    return replace(state.file_rules(), by_shape=not given["no_map"])


@contextmanager
def _target(state: State, dry_run: bool) -> Iterator[Store]:
    """The store, made if there is none; a dry run makes one that is thrown away, and so
    is a new file into which nothing was loaded."""
    from warehouse.store.open import discard_if_empty, open_store

    if dry_run and _is_empty(state):
        from warehouse.store.temporary import temporary_folder

        with (
            temporary_folder() as folder,
            open_store(str(folder / "dry-run"), create=True) as store,
        ):
            yield store
        return
    is_new = is_missing(state.config().url.value)
    with state.open_or_create() as store:
        try:
            yield store
        finally:
            if is_new and discard_if_empty(store):
                state.say(f"nothing was stored: {store.name} is removed again")


def _is_empty(state: State) -> bool:
    """Whether there is no store yet."""
    from warehouse.store.schema import revision

    if is_missing(state.config().url.value):
        return True
    with state.open(check=False) as store:
        return revision.found(store) is None


#: Characters of what a shipped mapping reads, in a list.
DESCRIPTION = 100


@command("mapping", takes_state=False)
@click.argument("file", metavar="[FILE|NAME]", required=False, type=MappingFile())
@option(
    "--list",
    "List the mappings for published dumps, which are shipped.",
    name="listing",
    is_flag=True,
)
@option(
    "-o --output FILE", "Write it there; default: standard output.", OutputFile(MAPPING)
)
@option("--force", "Replace a file that is there already.", is_flag=True)
@option(
    "--table NAME",
    "The sheet of a spreadsheet, or the table of a database, where a file holds several.",
    str,
)
def mapping(
    file: str | None,
    listing: bool,
    output: Path | None,
    force: bool,
    table: str | None,
) -> None:
    from warehouse.importers.tabular.drafts.matrix import LEFT_OUT
    from warehouse.importers.tabular.mapping_files import (
        describe_mapping,
        mapping_file,
        shipped_mappings,
    )
    from warehouse.ingest.nothing_found import shaped_by

    if listing:
        if file is not None:
            raise click.UsageError(
                f"--list lists the shipped mappings: name no file, found {file}"
            )
        refuse_typed(
            "goes with a file or the name of a mapping, not with --list",
            "output",
            "force",
            "table",
        )
        mappings = shipped_mappings().items()
        print_rows(
            {"name": name, "reads": excerpt(describe_mapping(path), DESCRIPTION)}
            for name, path in mappings
        )
        return
    if file is None:
        raise click.UsageError(
            "expected a table to begin from, the name of a shipped mapping, or --list"
        )
    path = mapping_file(file)
    shipped = not Path(file).is_file()
    if shipped:
        refuse_typed("goes with a file that holds several tables", "table")
    importer = "" if shipped else _importer_name(path)
    ready = "" if shipped or importer else shaped_by([path])
    text = (
        path.read_text(encoding="utf-8")
        if shipped
        else _draft(path, importer, ready, table or "")
    )
    if output is None:
        refuse_typed("goes with --output", "force")
        echo(text, nl=False)
        return
    write_output(output, text.encode(), MAPPING, force=force)
    dumps = "DUMPS" if shipped else path
    open_choices = text.count("\n[[choose]]")
    first = (
        f"decide what [[choose]] asks ({open_choices}), then " if open_choices else ""
    )
    unknown = [
        name
        for name in ("model", "benchmark")
        if f"\n# {name} = {{ const" in text and not shipped
    ]
    values = "".join(f" --set {name}=NAME" for name in unknown)
    first = (
        f"{ready} fits by its shape, and needs no draft; otherwise {first}"
        if ready
        else first
    )
    for line in text.splitlines() if not shipped else ():
        if LEFT_OUT in line:
            echo(f"note: {line[line.index(LEFT_OUT) :]}", err=True)
    echo(
        f"wrote {output}; next: {first}warehouse ingest {dumps} --map {output}{values}",
        err=True,
    )


def _draft(path: Path, importer: str, ready: str, table: str) -> str:
    """A starting mapping for a file; of one of its tables, where that is named."""
    from warehouse.importers.tabular.drafts.draft import starting_mapping
    from warehouse.importers.tabular.drafts.toml import toml_text
    from warehouse.importers.tabular.table_choice import named_table

    with named_table(table):
        text = starting_mapping(path, importer, ready)
    if not table:
        return text
    return f"{text}\n[table]  # of the file\ntable = {toml_text(table)}\n"


def _importer_name(path: Path) -> str:
    """The importer that reads a file without a mapping; nothing where that is none."""
    from warehouse.ingest.discover import discover

    names = {job.importer.name for job in discover([path]).jobs}
    return next(iter(names - {"tabular"}), "")
