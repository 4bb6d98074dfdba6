"""One file per command group: parse, call one function, print."""
