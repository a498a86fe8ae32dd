"""Standing in for Triton: after `import mytriton.as_triton`, `import triton` finds this project.

`site/` holds a package named `triton` whose modules re-export or adapt what the rest of the project
has. Importing this module puts that folder in front of `sys.path`, here and, through PYTHONPATH, in
every Python process started from here (`tools/stand_in.py`).

    import mytriton.as_triton            # before anything that imports triton
    import triton, triton.language as tl
    python -m mytriton run train.py      # the same, without a change to the program
    pytest -p mytriton.as_triton
"""

from ..tools.stand_in import activate

activate()
