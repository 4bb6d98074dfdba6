"""What single prompts and their generations tell."""
