"""The figure of the first of a leaderboard, corrected for having been picked."""
