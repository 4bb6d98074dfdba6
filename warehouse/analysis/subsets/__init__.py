"""Plans of which prompts to ask, what harnesses take of them, and the figures that come back."""
