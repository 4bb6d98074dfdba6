"""How many labels a corrected figure takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelPlans:
    """later."""
