"""The small dumps that are part of the repository, as what is loaded of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data"
_CONTRADICTS = "grid_edited.eval"

Source = dict[str, Any]


def small_dumps() -> dict[str, Source]:
    """Every shipped dump on its own; of contradicting ones (refused by rule) the first."""
    found: dict[str, Source] = {}
    for folder in sorted(DATA.iterdir()):
        for item in sorted(folder.iterdir()):
            name = f"{folder.name}/{item.name}"
            unnamed = folder.name == "human_eval" or item.name in (
                "samples_only",
                "v0_3",
                "eval_results",
            )
            values = {"model": "org/unnamed"} if unnamed else None
            if (
                folder.name not in ("every_eval_ever", "tabular")
                and item.name != _CONTRADICTS
            ):
                found[name] = {"paths": [item], "values": values}
    found["tabular/long.csv"] = {
        "paths": [DATA / "tabular" / "long.csv"],
        "mapping": DATA / "tabular" / "long.toml",
    }
    return found


def rewritten(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Every row of a file, or the one object that it is, changed."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        change(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
