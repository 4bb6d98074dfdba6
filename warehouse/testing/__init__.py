"""Proofs for importers, questions and metric families of packages of your own, one call
each.

Each makes stores of its own in a temporary folder, tries what users and tools do to
such a part, and gives what was tried; what is wrong is raised, all at once
(``docs/extending.md``).
"""

from __future__ import annotations

from warehouse.testing.family import check_family
from warehouse.testing.findings import Checked
from warehouse.testing.importer import check_importer
from warehouse.testing.question import check_question

__all__ = ["Checked", "check_family", "check_importer", "check_question"]
