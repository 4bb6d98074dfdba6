"""A store in the browser: pages that ask the questions of the command line, of one
store, read-only."""
