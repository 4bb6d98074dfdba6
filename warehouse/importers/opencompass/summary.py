"""The summary of an OpenCompass work folder as runs with figures only."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.importers.common.json_fields import number_or_none
from warehouse.importers.opencompass.files import model_settings
from warehouse.importers.opencompass.header import HARNESS, model_fields, run_fields
from warehouse.importers.opencompass.table import Line, Table, read_table
from warehouse.records import Dump, MetricSpec, PublishedScore, Rejection, RunHeader, SourceFiles

#: Figures of groups that are no mean.
_NO_MEAN = ("standard_deviation", "sum")


def read_summary(source: SourceFiles) -> Dump:
    """Runs of a summary: one for each model and group of data sets; where the work folder has no
    results of the data sets themselves, for these too.

    Raises:
        InputError: the file has no table.
    """
    table = read_table(source.files[0])
    alone = not any((source.root / "results").glob("*/*.json"))
    dump = Dump((), ())
    dump.rejections += [Rejection(place, text, "as many fields as the heading has") for place, text in table.faults]
    names = dict.fromkeys(line.dataset for line in table.lines if alone or line.is_group)
    dump.runs = tuple(header for name in names for header in _headers(source, table, name, dump))
    return dump


def _headers(source: SourceFiles, table: Table, name: str, dump: Dump) -> Iterator[RunHeader]:
    lines = [line for line in table.lines if line.dataset == name]
    first = lines[0]
    for place, model in enumerate(table.models):
        published = tuple(_published(lines, place))
        if not published:
            continue
        yield RunHeader(
            harness=HARNESS,
            **model_fields(model, model_settings(source.files, model, dump.notes)),
            benchmark=name,
            task_version=None if first.is_group else first.version,
            formulation=first.stated_mode,
            metrics=tuple(MetricSpec(item.metric, is_default=number == 0) for number, item in enumerate(published)),
            **run_fields(source.root),
            published=published,
            place=f"{name} of {model}",
        )


def _published(lines: list[Line], place: int) -> Iterator[PublishedScore]:
    """Figures of a model, with two decimals, on the scale of the data set (often percent)."""
    for metric, text in {line.metric: line.figures[place] for line in lines}.items():
        try:
            value = number_or_none(float(text))
        except ValueError:
            continue  # "-": the model has no result
        statistic = "aggregate" if metric in _NO_MEAN else "mean"
        yield PublishedScore(metric, value, statistic=statistic, raw=None if value is not None else text[:200])
