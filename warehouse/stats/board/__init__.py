"""What is wrong with a published table: rules on the figures as they were printed
(statistics.md §25)."""
