"""The command line, and what helps people who write kernels."""
