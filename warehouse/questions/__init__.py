"""What can be asked of a store, each question said once: what it may be told is a field of a frozen dataclass."""
