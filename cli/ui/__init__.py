"""What commands print with: options, tables, progress."""
