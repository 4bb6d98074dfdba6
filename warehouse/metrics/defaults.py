"""Settings that several questions share, where nothing needs to be computed to know them."""

from __future__ import annotations

#: Draws behind the rank sets of a leaderboard (`pairs` takes more).
DRAWS = 1999
