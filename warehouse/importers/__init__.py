"""Importers, one file per dump format, found through the entry points
``warehouse.importers``."""

from __future__ import annotations

import logging
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from warehouse.errors import MisuseError, WarehouseError
from warehouse.importers.base import Importer

GROUP = "warehouse.importers"
#: Asked last: it takes what nothing more specific has claimed.
LAST = ("tabular",)

_log = logging.getLogger(__name__)


def importers() -> dict[str, Importer]:
    """Every installed importer that loads, by name; specific formats before the tabular
    one.

    One that does not load is logged and left out: a broken plug-in does not stop the
    others.
    """
    by_name: dict[str, Importer] = {}
    for point in sorted(
        _points().values(), key=lambda item: (item.name in LAST, item.name)
    ):
        try:
            by_name[point.name] = _load(point)
        except WarehouseError as error:
            _log.warning("%s", error)
    return by_name


def importer(name: str) -> Importer:
    """The importer of a name, as ``--format`` takes it.

    Raises:
        MisuseError: there is none; names those there are.
        WarehouseError: it does not load, or is no importer.
    """
    points = _points()
    if name not in points:
        raise MisuseError(f"no format '{name}'; there are: {', '.join(sorted(points))}")
    return _load(points[name])


def refresh() -> None:
    """Look again for packages, which may have been installed meanwhile."""
    _points.cache_clear()
    _load.cache_clear()


@cache
def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _load(point: EntryPoint) -> Importer:
    try:
        plugin = point.load()
    except Exception as error:
        raise WarehouseError(
            f"the importer '{point.name}' ({point.value}) does not load: {error}"
        ) from error
    if not isinstance(plugin, Importer):
        raise WarehouseError(
            f"the entry point '{point.name}' ({point.value}) is no importer; expected "
            "an object with name, version, claim and read"
        )
    return plugin
