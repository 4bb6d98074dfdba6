"""What people say about stored data: aliases, links, clusterings, headline metrics."""
