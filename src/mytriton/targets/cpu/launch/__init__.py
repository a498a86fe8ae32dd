"""Launches: machine code, in memory and on disk, the threads that run it, and the record that all
threads of one launch share.

Read `record`, `machine_code`, `kernel`, then `pool`, `cooperative_launch` and `interrupt`.
"""
