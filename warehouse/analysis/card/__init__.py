"""One model's figures and circumstances, as a card."""
