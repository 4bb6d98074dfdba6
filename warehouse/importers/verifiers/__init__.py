"""Rollouts and episodes of verifiers and prime-rl."""

from warehouse.importers.verifiers.importer import IMPORTER as IMPORTER
