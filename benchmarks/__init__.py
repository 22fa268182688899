"""Measurements of speed and size, each with its peer in the same run: `python -m benchmarks`."""
