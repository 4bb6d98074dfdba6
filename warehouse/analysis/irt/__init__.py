"""Item response models over benchmarks and harnesses: one scale, its errors, what to
ask next."""
