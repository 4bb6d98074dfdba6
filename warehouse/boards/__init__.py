"""Published tables in files: reading them as they were printed, and what is wrong with
them."""
