"""Tables that nobody knows, read by a draft of a mapping where that leaves nothing open:
what to decide otherwise."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import InputError

#: Readings of a question that a message says, and its characters at most.
_READINGS, _LENGTH = 5, 800


@dataclass(frozen=True)
class Drafted:
    """A draft for one file.

    ``mapping`` is empty where it cannot be used as it stands; ``why_not`` says what is
    missing then, and ``roles`` what each column was taken for.
    """

    mapping: Mapping[str, Any]
    roles: str = ""
    why_not: str = ""
    #: the model, the benchmark, or both, where these alone are missing.
    unnamed: tuple[str, ...] = ()

    @property
    def lacks_names(self) -> bool:
        """True if the model or the benchmark is all that is missing."""
        return bool(self.unnamed)

    def advice_for(self, file: Path | str) -> str:
        """What to do about a file that was not read."""
        if self.unnamed:
            options = " ".join(f"--default {name}=NAME" for name in self.unnamed)
            return (
                f"say {options}, and it is read so (`warehouse mapping {file}` says "
                "why)"
            )
        return (
            f"`warehouse mapping {file} -o mapping.toml` begins a mapping with these "
            "readings; choose one, then --map mapping.toml"
        )


def drafted(path: Path, known: Mapping[str, Any], *, is_alone: bool = True) -> Drafted:
    """The draft for a file.

    Args:
        known: header fields that the user gave.
        is_alone: whether it is the only file that is asked, so that one name given by
            the user can be meant for no other.
    """
    from warehouse.importers.tabular.drafts.draft import draft_of
    from warehouse.importers.tabular.drafts.found import Found
    from warehouse.importers.tabular.drafts.profile import profile

    if path.suffix.lower() == ".zip":
        return Drafted({})  # of which a draft sees the first table alone
    try:
        found = Found(profile(path))
    except (InputError, OSError):
        return Drafted({})  # which is said otherwise
    if found.choices:
        first = found.choices[0]
        between = "; ".join(
            f"({number}) {reading}"
            for number, reading in enumerate(first.between[:_READINGS], 1)
        )
        more = len(found.choices) - 1
        others = f" (and {more} more)" if more else ""
        return Drafted({}, why_not=f"{first.what}: {between}{others}"[:_LENGTH])
    if not found.is_sure and found.comparison:
        why_not = (
            f"no column holds scores: (1) {found.comparison}; (2) another file holds "
            "them"
        )
        return Drafted({}, why_not=why_not)
    if not found.is_sure:
        return Drafted({})
    unnamed = None if is_alone else found.unnamed_files()
    if unnamed is not None:
        return Drafted({}, why_not=unnamed.question)
    missing = [name for name in found.unnamed() if name not in known]
    if missing:
        what = " or the ".join(missing)
        why_not = f"{found.roles()}; nothing names the {what}"
        return Drafted({}, why_not=why_not, unnamed=tuple(missing))
    return Drafted(tomllib.loads(draft_of(found)), found.roles())
