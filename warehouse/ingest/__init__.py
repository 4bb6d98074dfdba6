"""From paths to a loaded store: discover, claim, read, load, reconcile."""
