"""Decisions on the runs of a dump: what becomes of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

OnConflict = Literal["error", "skip", "supersede"]


@dataclass(frozen=True)
class Decision:
    """A decision on run number ``run`` of a dump.

    ``new``: store it. ``seen``: the stored run ``same_as`` (or, if that is ``None``,
    run ``same_in_dump`` of this dump) is the same execution. Under its ``run_key`` the
    stored runs ``supersedes`` give way to it, and it gives way itself to the stored run
    ``superseded_by``. ``skip``: leave it out. ``condition_key`` leaves out what does
    not matter by a person's word; ``marks`` are those that the execution is known by
    from now on.
    """

    run: int
    action: Literal["new", "seen", "skip"]
    condition_key: str
    recorded_key: str
    run_key: str | None
    content_digest: str
    marks: Mapping[str, str] = field(default_factory=dict)
    same_as: int | None = None
    same_in_dump: int | None = None
    supersedes: tuple[int, ...] = ()
    restates: tuple[
        tuple[int, str | None], ...
    ] = ()  # stored runs whose figures are stated anew, under their own keys
    superseded_by: int | None = None
    repeat: bool = False
    note: str = ""
    is_doubtful: bool = False  # the note is on what may be read in two ways

    def stored_as(self, run_ids: Mapping[int, int]) -> int:
        """Id of the run of the store that this one is, a new one or one that was there;
        of none that is left out.

        Args:
            run_ids: ids of the new runs of the load, by their number.
        """
        if self.same_as is not None:
            return self.same_as
        number = self.run
        if self.same_in_dump is not None:
            number = self.same_in_dump
        return run_ids[number]
