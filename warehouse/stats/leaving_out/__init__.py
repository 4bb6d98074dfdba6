"""How few units would have to be left out, or have had another verdict, for a sentence
to change (statistics.md §26)."""
