"""Checks of a kernel while it runs, as transformations of its IR: see docs/sanitizer.md."""
