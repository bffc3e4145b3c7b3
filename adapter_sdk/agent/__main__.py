"""Talk to a model from a terminal; see ``--help``."""

from __future__ import annotations

import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main())
