"""OpenAI evals logs."""

from warehouse.importers.openai_evals.importer import IMPORTER as IMPORTER
