"""How far a figure would move with other settings of its kind: templates, judges,
backends (statistics.md §27)."""
