"""What was asked, said and done in which samples: texts that match a pattern."""
