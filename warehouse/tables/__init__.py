"""Answers for people: what a table shows, as text of a width and as HTML. Knows no
result and no store."""
