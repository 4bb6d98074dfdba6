"""Named and ad hoc queries, their parameters and natural keys."""
