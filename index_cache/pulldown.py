"""pulldown-cmark, the Markdown parser, from the compiled module of pyromark.

Its package makes an enumeration of options first, which takes as long as a fifth of a search. The
module takes their bits as well, and knows nothing of the package.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_NAME = "pyromark._pyromark"

# As pulldown-cmark numbers them: tables, footnotes, strikethrough, task lists, wiki links.
OPTIONS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 15


def _compiled() -> ModuleType:
    """Load the compiled module alone. Raises ImportError if it is not where it is expected."""
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    package = PathFinder.find_spec("pyromark")
    found = package and PathFinder.find_spec(_NAME, package.submodule_search_locations)
    if found is None or found.loader is None:
        raise ImportError(_NAME)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    # The package finds it there if it is imported later: it is one, whoever asks.
    return sys.modules.setdefault(_NAME, module)


def _parser() -> ModuleType:
    if _NAME not in sys.modules:
        try:
            return _compiled()
        except (ImportError, AttributeError):  # another Python's insides, or another pyromark's
            pass
    import pyromark

    return pyromark


_PARSER = _parser()
events = _PARSER.events
events_with_range = _PARSER.events_with_range
