"""What runs inside the tools of others."""
