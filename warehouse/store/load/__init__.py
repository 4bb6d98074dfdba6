"""Writing a source: staging, dimensions, facts, identity, ledger."""
