"""Every Eval Ever, the exchange format."""

from warehouse.importers.every_eval_ever.importer import IMPORTER as IMPORTER
