"""Sections of a benchmark's part of a report: those of this package in one table,
others by their questions.

The table imports no question: a section is loaded when a report is made. A question of
another package names its own by ``SECTION = "module:Class"``; it stands below those of
this package (``docs/questions.md``).
"""

from __future__ import annotations

from importlib import import_module

from warehouse.analysis.report_data.part import Section
from warehouse.errors import WarehouseError
from warehouse.questions.registry import added_names, question_of

#: Sections of this package by the name that their anchors begin with, in the order in
#: which they stand.
SECTIONS = {
    "variance": "warehouse.analysis.variance.section:VarianceSection",
    "partial": "warehouse.analysis.subsets.section:PartialSection",
    "reliability": "warehouse.analysis.reliability.section:ReliabilitySection",
    "votes": "warehouse.analysis.prefer.section:VotesSection",
    "training": "warehouse.analysis.training.section:TrainingSection",
    "prompts": "warehouse.analysis.items.section:PromptsSection",
    "datamap": "warehouse.analysis.datamap.section:DataMapSection",
    "matrix": "warehouse.analysis.matrix.section:MatrixSection",
}


def section_kinds() -> dict[str, type[Section]]:
    """Classes of all sections by name, in their order."""
    places = SECTIONS | {
        name: place
        for name in added_names()
        if name not in SECTIONS and (place := _added(name))
    }
    return {name.replace(" ", "-"): _loaded(place) for name, place in places.items()}


def _added(name: str) -> str:
    """Where the section of a question of another package is; empty where it has none."""
    try:
        return question_of(name).SECTION
    except WarehouseError:  # its command and the help say why it does not load
        return ""


def _loaded(place: str) -> type[Section]:
    module, _, name = place.partition(":")
    kind: type[Section] = getattr(import_module(module), name)
    return kind
