"""Ops without an instruction become others, before anything is scheduled."""
