"""Plans of which prompts to ask, their export to harnesses, and estimates from the
answers."""
