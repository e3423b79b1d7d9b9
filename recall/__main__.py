"""``python -m recall``: the same as the ``recall`` script."""

from __future__ import annotations

import sys

from recall.cli import main

if __name__ == "__main__":
    sys.exit(main())
