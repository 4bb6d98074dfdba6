"""Words of people about stored data: aliases, links, clusterings, headline metrics."""
