"""The benchmarks of theory of mind, one module each, on a common base."""
