"""BIG-bench task logs."""

from warehouse.importers.bigbench.importer import IMPORTER as IMPORTER
