"""Drawing: charts and pictures of figures, which know no question and no store."""
