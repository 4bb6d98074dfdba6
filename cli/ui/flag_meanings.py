"""What the flags of figures mean, in words; see :mod:`warehouse.tables.words`."""

from warehouse.tables.words import MEANINGS, meanings

__all__ = ["MEANINGS", "meanings"]
