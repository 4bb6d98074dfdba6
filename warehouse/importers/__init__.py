"""Importers, one file per dump format, found through the entry points ``warehouse.importers``."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from warehouse.errors import MisuseError, WarehouseError
from warehouse.importers.base import Importer

GROUP = "warehouse.importers"
#: Asked last: it takes what nothing more specific has claimed.
LAST = ("tabular",)


@cache
def importers() -> dict[str, Importer]:
    """Every installed importer by name; specific formats before the tabular one.

    Raises:
        WarehouseError: an entry point does not lead to an importer.
    """
    found: dict[str, Importer] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda item: (item.name in LAST, item.name)):
        try:
            importer = point.load()
        except Exception as error:
            raise WarehouseError(
                f"the importer '{point.name}' ({point.value}) does not load: {error}"
            ) from error
        if not isinstance(importer, Importer):
            raise WarehouseError(
                f"the entry point '{point.name}' ({point.value}) is no importer; expected an "
                "object with name, version, claim and read"
            )
        found[point.name] = importer
    return found


def importer(name: str) -> Importer:
    """The importer of a name, as ``--format`` takes it.

    Raises:
        MisuseError: there is none; names those there are.
    """
    known = importers()
    if name not in known:
        raise MisuseError(f"no format '{name}'; there are: {', '.join(sorted(known))}")
    return known[name]
