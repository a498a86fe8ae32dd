"""Timings against the libraries people already have; `python -m benchmarks.run` (`make bench`)."""
