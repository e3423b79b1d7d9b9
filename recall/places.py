"""What names say of directories and files: notes, documentation, vendored code. Pure.

The tables of ``spec/discover.md``.
"""

from __future__ import annotations

from index_cache.scan import SKIPPED_DIRECTORIES, SUFFIXES

DOCS, DECISIONS, RUNBOOKS = "documentation", "decision records", "runbooks"
MEMORY, NOTES, VAULT = "agent memory", "notes", "a vault"

_NAMES = {
    DOCS: (
        "docs doc documentation handbook manual guides wiki design designs architecture specs spec"
    ),
    DECISIONS: "adr adrs decisions decision-records rfc rfcs proposals",
    RUNBOOKS: "runbook runbooks playbook playbooks postmortems incidents",
    MEMORY: "memory memories memory-bank agent-memory",
    NOTES: "notes knowledge knowledge-base kb zettelkasten journal journals diary",
}
WHAT = {name.encode(): what for what, names in _NAMES.items() for name in names.split()}
# What agents keep, by the hidden directory in which it is: the directory below, and a glob there.
KEPT: dict[bytes, tuple[tuple[bytes, str], ...]] = {
    b".claude": ((b"projects", "*/memory/**"), (b"memory", ""), (b"agent-memory", "")),
    b".agent": ((b"memory", ""),),
    b".agents": ((b"memory", ""),),
    b".ai": ((b"memory", ""),),
    b".codex": ((b"memories", ""),),
    b".gemini": ((b"memory", ""),),
    b".hermes": ((b"memories", ""),),
    b".openclaw": ((b"workspace", ""),),
    b".serena": ((b"memories", ""),),
    b".locus": ((b"", ""),),
    b".memory": ((b"", ""),),
    b".memory-bank": ((b"", ""),),
}
VENDORED = frozenset(
    b"vendor third_party third-party thirdparty 3rdparty external bower_components jspm_packages "
    b"site-packages dist-packages Pods Carthage elm-stuff".split()
)
_OF_A_HOME = frozenset({b"Library", b"AppData", b"Applications", b"snap"})
_COMMUNITY = frozenset(
    b"readme changelog changes history news releases license licence copying notice contributing "
    b"contributors code_of_conduct code-of-conduct security support authors maintainers governance "
    b"codeowners pull_request_template issue_template agents claude gemini copilot-instructions "
    b"skill".split()
)
# What lies beside notes and is no sign of code.
_ATTACHED = frozenset(
    b"png jpg jpeg gif svg webp avif bmp ico heic pdf mp3 m4a wav ogg mp4 mov webm zip gz tar txt "
    b"canvas excalidraw drawio base".split()
)
_SAYS_NOTHING = frozenset(
    {"src", "content", "pages", "data", "main", "master", "trunk", "workspace"}
)


def is_markdown(name: bytes) -> bool:
    """Tell whether a file of this name is a note by the canonical view."""
    return name.lower().endswith(SUFFIXES)


def is_community(name: bytes) -> bool:
    """Tell whether a note of this name is what every repository has, or speaks to agents."""
    stem = name.lower().partition(b".")[0]
    return stem in _COMMUNITY or stem.startswith(b"readme")


def is_attached(name: bytes) -> bool:
    """Tell whether a file is a picture, a document or the like, or hidden."""
    return name[:1] == b"." or name.lower().rpartition(b".")[2] in _ATTACHED


def is_passed_over(name: bytes) -> bool:
    """Tell whether a directory is left out wherever it is."""
    return name in SKIPPED_DIRECTORIES or name in VENDORED or name in _OF_A_HOME


def says_nothing(name: str) -> bool:
    """Tell whether a root of this name would need its parent's to be told from others."""
    return name.lower() in _SAYS_NOTHING or name.lower().encode("utf-8", "replace") in WHAT
