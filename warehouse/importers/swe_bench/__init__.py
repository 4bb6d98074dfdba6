"""SWE-bench reports."""

from warehouse.importers.swe_bench.importer import IMPORTER as IMPORTER
