"""Everything that a report shows, read once per benchmark."""
