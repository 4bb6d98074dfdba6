"""How sure a model says it is, held against whether it is right."""
