"""Parts that run inside the tools of others."""
