"""A store as Delta tables: bringing them up to date, holding them against the store,
time travel."""
