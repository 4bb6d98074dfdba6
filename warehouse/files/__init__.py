"""Files that this program writes: whole or not at all, and never in place of what would be lost."""
