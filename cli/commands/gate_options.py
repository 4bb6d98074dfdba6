"""Options of ``gate``: of one that looks once, of a sequential one, and of a log to
follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

import click

from warehouse.analysis.gate.question import ReleaseGate
from warehouse.analysis.sequential.question import FULL, Sequential
from warehouse.questions.question import Option, options

from ..ui.options import MappingFile, pairs_callback

LOOKS = 5


@dataclass(frozen=True)
class GateOptions(Sequential, ReleaseGate):
    """All options of the command: of a gate that looks once, of a sequential one, and
    of a log to follow."""

    _: KW_ONLY
    sequential: Annotated[
        bool, Option("On runs that may still grow: holds however often one asks.")
    ] = False
    obf: Annotated[
        bool,
        Option("With --sequential: O'Brien and Fleming's bounds at a few fixed looks."),
    ] = False
    follow: Annotated[
        Path | None,
        Option(
            "With --sequential: a growing log of the candidate; ends with the verdict. "
            "Nothing is stored.",
            "FILE",
        ),
    ] = None
    mapping: Annotated[
        str | None,
        Option(
            "With --follow: mapping (TOML) of a tabular log, or the name of a shipped "
            "one.",
            "FILE|NAME",
            ("--map",),
        ),
    ] = None
    values: Annotated[
        Sequence[str],
        Option(
            "With --follow: holds whatever the log says: model, benchmark ... "
            "Repeatable.",
            "FIELD=VALUE",
            ("--set",),
        ),
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sequential:
            why = "a prompt without a score counts against either verdict"
            self.refuse(f"does not go with --sequential: {why}", "max_unscored")
            self.refuse(
                "does not go with --sequential: tests of costs are for a fixed number "
                "of prompts",
                "cheaper",
            )
        if not self.obf:
            self.refuse("goes with --obf", "looks")
        if self.follow is None:
            self.refuse("goes with --follow", "mapping", "values")
        elif self.estimand != FULL:
            self.refuse(
                "does not go with --follow: a log is followed on the full benchmark",
                "estimand",
            )


#: Further settings of the options for click.
SETTINGS: dict[str, Any] = {
    **{
        name: {"help": f"With --sequential: {option.help[0].lower()}{option.help[1:]}"}
        for name, option in options(Sequential).items()
    },
    "looks": {"help": f"Looks of --obf; default: {LOOKS}."},
    "use_history": {"help": "With --sequential: predict scores by the baseline alone."},
    "follow": {"type": click.Path(dir_okay=False, path_type=Path)},
    "mapping": {"type": MappingFile()},
    "values": {"callback": pairs_callback},
}
