"""How far a score would move with other templates, judges or backends of its kind."""
