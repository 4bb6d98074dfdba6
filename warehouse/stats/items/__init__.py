"""Single prompts (items): difficulty, discrimination, item response models, fit,
pruning."""
