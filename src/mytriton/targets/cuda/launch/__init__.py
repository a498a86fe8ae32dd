"""Compiling a text by NVRTC and launching it through a driver."""
