"""How many prompts and draws a comparison takes."""
