"""`python -m mytriton` is the `mytriton` command."""

import sys

from .tools.cli import main

sys.exit(main())
