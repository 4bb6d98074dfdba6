"""What the flags of figures mean, in words; see :mod:`warehouse.tables.flag_meanings`."""

from warehouse.tables.flag_meanings import MEANINGS, meanings

__all__ = ["MEANINGS", "meanings"]
