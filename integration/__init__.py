"""Unmodified kernel libraries on this project: each op against PyTorch, op by op.

    make integration                       every library; the tables go to integration/results/
    make integration ARGS="liger --ops rms_norm"

A library module (`liger.py`, `fla.py`, `gems.py`, `inductor.py`) gives `cases(choose)`. A worker
process (`worker.py`) runs them under one engine, this project or Triton's own interpreter, and
writes a line of JSON each; the parent (`__main__.py`) starts it again behind a case that killed it,
and prints the tables.
"""
