"""Parts that importers of several formats share."""
