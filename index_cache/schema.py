"""The tables of a cache file, and the versions that its content depends on.

``spec/cache-format.md`` describes them. A file whose versions differ is never read nor migrated:
it has another name.
"""

from __future__ import annotations

import hashlib
import unicodedata

import Stemmer

from index_cache.analyze import ANALYZER_VERSION, TOKENIZER

SCHEMA_VERSION = 1
# Moves with anything that changes what a note's bytes become: parse, frontmatter, markdown, and
# the bounds of PyYAML and pyromark in pyproject.toml. It stands here, not in parse, because the
# search path must know it without importing the parsers.
PARSER_VERSION = 3

# The order is that of WEIGHTS; FTS5 takes a missing weight for 1.0 without a word.
FIELDS = ("title", "description", "tags", "type", "body")
WEIGHTS = (10.0, 5.0, 3.0, 2.0, 1.0)

_RANK = f"bm25({', '.join(map(str, WEIGHTS))})"

DDL = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    """CREATE TABLE entry (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        signature BLOB NOT NULL,
        suspect INTEGER NOT NULL,
        digest BLOB,
        problem TEXT
    )""",
    "CREATE INDEX entry_suspect ON entry (id) WHERE suspect",
    """CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        record_id TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        type TEXT NOT NULL,
        tags TEXT NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        modified TEXT NOT NULL,
        status TEXT NOT NULL,
        stale_after TEXT NOT NULL,
        tier TEXT NOT NULL,
        excerpt TEXT NOT NULL
    )""",
    # https://sqlite.org/fts5.html#contentless_delete_tables - a card's text comes from its file
    f"""CREATE VIRTUAL TABLE fts USING fts5 (
        {", ".join(FIELDS)}, content='', contentless_delete=1, tokenize="{TOKENIZER}"
    )""",
    f"INSERT INTO fts (fts, rank) VALUES ('rank', '{_RANK}')",  # noqa: S608 - our own constants
    # Bytes of terms gathered in memory before they are written: halves a first build.
    "INSERT INTO fts (fts, rank) VALUES ('hashsize', 33554432)",
    # Segments of one level before they are merged; 4 would merge a first build three times over.
    "INSERT INTO fts (fts, rank) VALUES ('automerge', 16)",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (fts, row)",
)


def fingerprint() -> str:
    """Return 16 hex digits that change with every version the derived rows depend on."""
    versions = (
        SCHEMA_VERSION,
        ANALYZER_VERSION,
        PARSER_VERSION,
        Stemmer.version(),
        unicodedata.unidata_version,
    )
    return hashlib.sha256(repr(versions).encode()).hexdigest()[:16]
