"""Which rows of one dump were made under the same settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.records import RunHeader
from warehouse.records.settings import settings_of


def key_of_settings(harness: str, configuration: Mapping[str, Any]) -> str:
    """A key that is equal for configurations which are the same settings; marks, versions and what the table leaves
    out tell none apart.

    Args:
        harness: name of the tool.
        configuration: under the names that the tool writes.
    """
    return settings_of(RunHeader(harness, "", "", configuration=configuration)).condition_key
