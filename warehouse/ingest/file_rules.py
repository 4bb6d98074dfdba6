"""Rules on files by patterns of their paths: which mapping reads them, and which are no
results.

They stand in ``warehouse.toml``::

    [ingest]
    ignore = ["costs.json"]         # no results: neither read nor missed

    [ingest.maps]
    "eq_bench/*.json" = "eq_bench"  # the name of a shipped mapping
    "*/scores.csv" = "scores.toml"  # or a file

A pattern fits a tail of a path: ``*`` stays in one folder, ``**`` does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warehouse.importers.common.file_walk import DATA_SUFFIXES, Unread
from warehouse.importers.common.streams import glob_matches

#: What to do about a file that nobody reads.
ADVICE = (
    "give its mapping under [ingest.maps] of warehouse.toml, or name it under ignore of "
    "[ingest] if it holds no results"
)


@dataclass(frozen=True)
class FileRules:
    """Which mapping reads which files, and which files hold no results."""

    #: a pattern and the mapping, the first that fits holds.
    maps: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()  #: patterns of files that hold no results.
    #: whether a file that nobody knows is read by the shipped mapping that it fits.
    by_shape: bool = True

    def mapping_of(self, path: Path) -> str | None:
        """The mapping that a file is read by; None: its importer finds itself."""
        whole = path.absolute()
        for pattern, mapping in self.maps:
            if glob_matches(pattern, whole):
                return mapping
        return None

    def is_ignored(self, path: Path) -> bool:
        """True if a file was said to hold no results."""
        whole = path.absolute()
        return any(glob_matches(pattern, whole) for pattern in self.ignored)

    def takes(self, mapping: str | None) -> Callable[[Path], bool] | None:
        """Tells the files that a mapping reads, or with None those that none does; None
        where all are meant."""
        if not self.maps and not self.ignored:
            return None

        def is_meant(path: Path) -> bool:
            return not self.is_ignored(path) and self.mapping_of(path) == mapping

        return is_meant


#: None at all.
NO_RULES = FileRules()


def is_data(item: Unread) -> bool:
    """True if a file that nobody read is meant as data, by the ending of its name; of a
    database by its first bytes too."""
    if item.path.suffix.lower() in DATA_SUFFIXES:
        return True
    from warehouse.importers.tabular.head_columns import holds_tables

    return holds_tables(item.path)
