"""Scans of Inspect Scout: what scanners found in generations that logs of Inspect hold."""
