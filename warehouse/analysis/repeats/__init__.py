"""Do the runs of a condition look like repeats of it, when they come in?"""
