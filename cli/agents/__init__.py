"""The same answers for agents, over the Model Context Protocol."""
