"""What is known of one model, as a card."""
