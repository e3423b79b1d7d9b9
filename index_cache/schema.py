"""The tables of a cache file, and the versions that its content depends on.

``spec/cache-format.md`` describes them. A file whose versions differ is never read nor migrated:
it has another name.
"""

from __future__ import annotations

import unicodedata

import Stemmer

from index_cache import checksums
from index_cache.analyze import ANALYZER_VERSION, TOKENIZER
from index_cache.digests import hashed

SCHEMA_VERSION = 6
# Moves with anything that changes what a note's bytes become: parse, frontmatter, markdown, and
# the bounds of PyYAML and pyromark in pyproject.toml. It stands here, not in parse, because the
# search path must know it without importing the parsers.
PARSER_VERSION = 6

# The order is that of WEIGHTS; FTS5 takes a missing weight for 1.0 without a word.
FIELDS = ("title", "aliases", "description", "tags", "type", "path", "body")
WEIGHTS = (10.0, 5.0, 5.0, 3.0, 2.0, 2.0, 1.0)
TITLE, ALIASES, TYPE, PATH, BODY = map(FIELDS.index, ("title", "aliases", "type", "path", "body"))

RANK = f"bm25({', '.join(map(str, WEIGHTS))})"

# What ``sqlite_schema`` must say of a cache file, word for word.
OBJECTS = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "entry": """CREATE TABLE entry (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        signature BLOB NOT NULL,
        suspect INTEGER NOT NULL,
        digest BLOB,
        problem TEXT
    )""",
    "entry_suspect": "CREATE INDEX entry_suspect ON entry (id) WHERE suspect",
    # Each search says which files have problems; few have any.
    "entry_problem": "CREATE INDEX entry_problem ON entry (problem) WHERE problem IS NOT NULL",
    "document": """CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        entry INTEGER NOT NULL,
        line INTEGER NOT NULL,
        digest BLOB,
        record_id TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        type TEXT NOT NULL,
        tags TEXT NOT NULL,
        aliases TEXT NOT NULL,
        language TEXT NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        modified TEXT NOT NULL,
        status TEXT NOT NULL,
        stale_after TEXT NOT NULL,
        tier TEXT NOT NULL,
        excerpt TEXT NOT NULL,
        source TEXT NOT NULL,
        session TEXT NOT NULL,
        related TEXT NOT NULL,
        valid_from TEXT NOT NULL,
        valid_until TEXT NOT NULL,
        created_at INTEGER,
        valid_from_at INTEGER,
        valid_until_at INTEGER
    )""",
    # The records of a JSONL file. A note has its entry's number, and costs these indexes nothing.
    "document_entry": "CREATE INDEX document_entry ON document (entry) WHERE line > 0",
    "document_created": """CREATE INDEX document_created ON document (created_at, record_id)
        WHERE created_at IS NOT NULL""",
    # What is not valid at a moment is at one end of these; few documents say when they are.
    "document_from": """CREATE INDEX document_from ON document (valid_from_at)
        WHERE valid_from_at IS NOT NULL""",
    "document_until": """CREATE INDEX document_until ON document (valid_until_at)
        WHERE valid_until_at IS NOT NULL""",
    # For a prompt that names a note by its id; without it that reads all documents. Only ids of the
    # notes' own: the others are hashes, each of which would touch a page of the index of its own.
    "document_record_id": """CREATE INDEX document_record_id ON document (record_id COLLATE NOCASE)
        WHERE record_id NOT LIKE 'path:%'""",
    # Which languages there are, without reading all documents.
    "document_language": """CREATE INDEX document_language ON document (language)
        WHERE language <> 'en'""",
    # https://sqlite.org/fts5.html#contentless_delete_tables - a card's text comes from its file
    "fts": f"""CREATE VIRTUAL TABLE fts USING fts5 (
        {", ".join(FIELDS)}, content='', contentless_delete=1, tokenize="{TOKENIZER}"
    )""",
    "vocabulary": "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (fts, row)",
}
# What SQLite and FTS5 make of their own accord; its words may change with their version.
IMPLIED = ("sqlite_autoindex_entry_1", "fts_data", "fts_idx", "fts_docsize", "fts_config")

DDL = (
    *OBJECTS.values(),
    # Bytes of terms gathered in memory before they are written, those of a batch: halves a first
    # build, and each segment more costs a search a seek a term.
    "INSERT INTO fts (fts, rank) VALUES ('hashsize', 67108864)",
    # Segments of one level before they are merged; 4 would merge a first build three times over.
    "INSERT INTO fts (fts, rank) VALUES ('automerge', 16)",
    # FTS5's default, less what the checksum takes of a page: each leaf would need a second page
    # for its last byte, and the file grow by 14 %.
    "INSERT INTO fts (fts, rank) VALUES ('pgsz', 4040)",
)


def fingerprint() -> str:
    """Return 16 hex digits that change with every version the derived rows depend on.

    And with whether pages have checksums: what writes without them leaves wrong ones behind.
    """
    versions = (
        SCHEMA_VERSION,
        ANALYZER_VERSION,
        PARSER_VERSION,
        Stemmer.version(),
        unicodedata.unidata_version,
        checksums.vfs() is not None,
    )
    return hashed(repr(versions), size=8)
