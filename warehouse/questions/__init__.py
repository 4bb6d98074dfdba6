"""The questions that can be asked of a store: each is a frozen dataclass whose fields
are its options."""
