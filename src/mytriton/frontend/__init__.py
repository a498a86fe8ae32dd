"""The frontend: a kernel's Python source rewritten, then run on symbolic values."""
