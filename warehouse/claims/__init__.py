"""Claims that others can check: a figure, how it came about, what it rests on; and the
check."""
