"""Two runs: differences, tests, margins."""
