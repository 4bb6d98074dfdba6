"""``leaderboard --weights``: how the benchmarks of a suite are weighted."""

from __future__ import annotations

from pathlib import Path

import click

_WORDS = ("equal", "prompts")


def weights_callback(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | dict[str, float]:
    """``equal``, ``prompts``, ``name=weight,…``, or a file with one ``name=weight`` a line.

    Raises:
        UsageError: anything else, with the place.
    """
    if text is None or text in _WORDS:
        return text or "equal"
    if Path(text).is_file():
        lines = Path(text).read_text(encoding="utf-8").splitlines()
        parts = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    elif "=" in text:
        parts = [part.strip() for part in text.split(",") if part.strip()]
    else:
        raise click.UsageError(f"--weights '{text}' is none of equal, prompts, NAME=WEIGHT,... and no file")
    return dict(_weight(part, parts) for part in parts)


def _weight(part: str, parts: list[str]) -> tuple[str, float]:
    name, sign, value = part.rpartition("=")
    name = name.strip()
    try:
        weight = float(value)
    except ValueError:
        sign, weight = "", 0.0
    if not sign or not name:
        raise click.UsageError(f"--weights: '{part}' is not NAME=WEIGHT")
    if sum(other.rpartition("=")[0].strip() == name for other in parts) > 1:
        raise click.UsageError(f"--weights gives {name} twice")
    return name, weight
