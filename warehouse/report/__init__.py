"""The report: results as one HTML page that opens without network."""
