"""What is wrong with published tables (``warehouse board``)."""
