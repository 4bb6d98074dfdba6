"""Results of the Berkeley Function Calling Leaderboard."""

from warehouse.importers.bfcl.importer import IMPORTER as IMPORTER
