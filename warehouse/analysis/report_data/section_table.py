"""Sections of a benchmark's part of a report: those of this package in one table,
others by their questions.

The table imports no question: a section is loaded when a report is made. A question of
another package names its own by ``SECTION = "module:Class"``; it stands below those of
this package (``docs/reference/extending_questions.md``).
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

from warehouse.analysis.report_data.part import Section
from warehouse.questions.registry import added_names, question_of

_LOG = logging.getLogger(__name__)

#: Sections of this package by the name that their anchors begin with, in the order in
#: which they stand.
SECTIONS = {
    "variance": "warehouse.analysis.variance.section:VarianceSection",
    "partial": "warehouse.analysis.subsets.section:PartialSection",
    "slices": "warehouse.analysis.slices.section:SliceSection",
    "answers": "warehouse.analysis.answers.section:AnswersSection",
    "reliability": "warehouse.analysis.reliability.section:ReliabilitySection",
    "votes": "warehouse.analysis.prefer.section:VotesSection",
    "training": "warehouse.analysis.training.section:TrainingSection",
    "prompts": "warehouse.analysis.items.section:PromptsSection",
    "datamap": "warehouse.analysis.datamap.section:DataMapSection",
    "matrix": "warehouse.analysis.matrix.section:MatrixSection",
}


def section_kinds() -> dict[str, type[Section]]:
    """Classes of all sections by name, in their order.

    A section of another package that does not load is left out, with a warning.
    """
    kinds = {name: _loaded(place) for name, place in SECTIONS.items()}
    for name in added_names():
        if name in SECTIONS:
            kind = None
        else:
            kind = _added(name)
        if kind is not None:
            kinds[name.replace(" ", "-")] = kind
    return kinds


def _added(name: str) -> type[Section] | None:
    """The section of a question of another package; None where it has none, or does
    not load."""
    try:
        place = question_of(name).SECTION
        if place:
            return _loaded(place)
        return None
    except Exception as error:  # what others have written may fail in any way
        _warn_of(name, str(error))
        return None


@cache
def _warn_of(name: str, error: str) -> None:
    """Say once in a process what is missing: a report asks for its sections often."""
    _LOG.warning("the report lacks the section of the question '%s': %s", name, error)


def _loaded(place: str) -> type[Section]:
    module, _, name = place.partition(":")
    kind: type[Section] = getattr(import_module(module), name)
    return kind
