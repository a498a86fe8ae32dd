"""cudasim: the printed CUDA text, compiled for the host and run thread by thread."""
