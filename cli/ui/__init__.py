"""What commands print with: options, tables, footnotes, progress."""
