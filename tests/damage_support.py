"""Ways to damage a cache file, for tests that nothing else than the notes decides an answer.

Each takes the path of a cache that nobody has open, and a random generator. ``BYTES`` change bytes
that a page with a checksum lies in, ``FILES`` put something else in the place of a file,
``ROWS`` change the content as SQLite itself would, so that every checksum is right.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
from search_support import row

from index_cache import checksums
from index_cache.model import Root
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Damage = Callable[[str, Random], None]

PAGE = 4096


def _open(path: str) -> apsw.Connection:
    connection = apsw.Connection(path, vfs=checksums.vfs())
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)  # so that FTS5's own tables can be hit
    return connection


def settle(path: str) -> None:
    """Move what is in the WAL into the file, and take away what SQLite keeps beside it."""
    with closing(_open(path)) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)


def used_pages(path: str, *, overflow: bool = True) -> list[int]:
    """Return the numbers of the pages that hold anything, from 1 on."""
    with closing(_open(path)) as connection:
        pages = connection.execute("SELECT pageno, pagetype FROM dbstat")
        return [number for number, kind in pages if overflow or kind != "overflow"]


def _write(path: str, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


# -- bytes


def flip_a_bit(path: str, rng: Random) -> None:
    _flip(path, (rng.choice(used_pages(path)) - 1) * PAGE + rng.randrange(PAGE), rng)


def flip_a_bit_of_the_header(path: str, rng: Random) -> None:
    _flip(path, rng.randrange(100), rng)


def switch_checksums_off(path: str, rng: Random) -> None:
    """Let the header say that no bytes are reserved, and change a page."""
    page = rng.choice([number for number in used_pages(path) if number > 1])
    _write(path, 20, b"\0")
    _flip(path, page * PAGE - rng.randrange(9, 2000), rng)


def _flip(path: str, offset: int, rng: Random) -> None:
    with open(path, "rb") as file:
        file.seek(offset)
        (byte,) = file.read(1)
    _write(path, offset, bytes([byte ^ 1 << rng.randrange(8)]))


def zero_a_page(path: str, rng: Random) -> None:
    _write(path, (rng.choice(used_pages(path)) - 1) * PAGE, bytes(PAGE))


def zero_half_a_page(path: str, rng: Random) -> None:
    half = rng.choice((0, PAGE // 2))
    _write(path, (rng.choice(used_pages(path)) - 1) * PAGE + half, bytes(PAGE // 2))


def fill_with_noise(path: str, rng: Random) -> None:
    _write(path, (rng.choice(used_pages(path)) - 1) * PAGE, rng.randbytes(PAGE))


def exchange_two_pages(path: str, rng: Random) -> None:
    """Each has its checksum, but not its place; ends of long rows have nothing that tells."""
    exchange(path, *rng.sample(used_pages(path, overflow=False), 2))


def exchange(path: str, first: int, second: int) -> None:
    """Let two pages of a file take each other's places."""
    with open(path, "rb") as file:
        pages = file.read()
    for here, there in ((first, second), (second, first)):
        _write(path, (here - 1) * PAGE, pages[(there - 1) * PAGE : there * PAGE])


def cut_off(path: str, rng: Random) -> None:
    os.truncate(path, rng.randrange(os.path.getsize(path)))


def cut_off_the_last_page(path: str, rng: Random) -> None:
    os.truncate(path, os.path.getsize(path) - rng.randrange(1, PAGE))


def cut_off_pages(path: str, rng: Random) -> None:
    os.truncate(path, rng.randrange(os.path.getsize(path) // PAGE) * PAGE)


def grow(path: str, rng: Random) -> None:
    with open(path, "ab") as file:
        file.write(rng.randbytes(rng.randrange(1, 3 * PAGE)))


BYTES: list[tuple[str, Damage]] = [
    (damage.__name__, damage)
    for damage in (
        flip_a_bit,
        flip_a_bit_of_the_header,
        switch_checksums_off,
        zero_a_page,
        zero_half_a_page,
        fill_with_noise,
        exchange_two_pages,
        cut_off,
        cut_off_the_last_page,
        cut_off_pages,
        grow,
    )
]


# -- files


def _other_cache(path: str, rng: Random, *, fresh: bool) -> None:
    """Make another root's cache; unless ``fresh``, only its last batch is in its WAL."""
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    store = Store.create(Root("other", "/elsewhere"), path)
    notes = [{"title": "kestrel", "body": f"word{rng.randrange(99)}"} for _ in range(40)]
    store.write([row(number, f"{number}.md", note) for number, note in enumerate(notes, 1)])
    if not fresh:
        store.checkpoint()
        store.write([row(50, "50.md", {"title": "kestrel", "body": "word7"})])
    store.set_meta("built", 1)
    # As it lies there while a process uses it.
    for suffix in ("", "-wal"):
        shutil.copyfile(path + suffix, path + ".copy" + suffix)
    store.close()
    for suffix in ("", "-wal"):
        os.replace(path + ".copy" + suffix, path + suffix)
    os.unlink(path + "-shm")


def put_another_roots_cache(path: str, rng: Random) -> None:
    _other_cache(path, rng, fresh=rng.random() < 0.5)
    settle(path)


def put_another_roots_log(path: str, rng: Random) -> None:
    _other_cache(path + ".other", rng, fresh=rng.random() < 0.5)
    os.replace(path + ".other-wal", path + "-wal")
    os.unlink(path + ".other")


def put_an_unrelated_database(path: str, rng: Random) -> None:
    os.unlink(path)
    with closing(apsw.Connection(path)) as connection:
        connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value)")
        connection.execute("INSERT INTO meta VALUES ('identity', ?)", (str(rng.random()),))


def put_a_text_file(path: str, rng: Random) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write("this is no database\n" * rng.randrange(1, 5000))


def put_an_empty_file(path: str, _: Random) -> None:
    os.truncate(path, 0)


def put_a_directory(path: str, _: Random) -> None:
    os.unlink(path)
    os.mkdir(path)


def put_a_symlink(path: str, rng: Random) -> None:
    os.rename(path, path + ".real")
    os.symlink(path + (".real" if rng.random() < 0.5 else ".nowhere"), path)


def take_it_away(path: str, _: Random) -> None:
    os.unlink(path)


def put_a_log_of_noise(path: str, rng: Random) -> None:
    with open(path + "-wal", "wb") as file:
        # With and without a header that SQLite might believe.
        head = rng.choice((b"", b"\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00"))
        file.write(head + rng.randbytes(rng.randrange(1, 5 * PAGE)))


def put_shared_memory_of_noise(path: str, rng: Random) -> None:
    with open(path + "-shm", "wb") as file:
        file.write(rng.randbytes(rng.choice((10, 32 * 1024))))


def put_a_journal_of_noise(path: str, rng: Random) -> None:
    with open(path + "-journal", "wb") as file:
        head = rng.choice((b"", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"))
        file.write(head + rng.randbytes(rng.randrange(1, 5 * PAGE)))


FILES: list[tuple[str, Damage]] = [
    (damage.__name__, damage)
    for damage in (
        put_another_roots_cache,
        put_another_roots_log,
        put_an_unrelated_database,
        put_a_text_file,
        put_an_empty_file,
        put_a_directory,
        put_a_symlink,
        take_it_away,
        put_a_log_of_noise,
        put_shared_memory_of_noise,
        put_a_journal_of_noise,
    )
]


# -- rows

_STATEMENTS = (
    "DELETE FROM fts",
    "INSERT INTO fts (fts) VALUES ('delete-all')",
    "DELETE FROM fts WHERE rowid = {row}",
    "DELETE FROM document",
    "DELETE FROM document WHERE id = {row}",
    "DELETE FROM entry",
    "DELETE FROM entry WHERE id = {row}",
    "DELETE FROM entry; DELETE FROM document",
    "DELETE FROM entry; DELETE FROM document; DELETE FROM fts",
    "UPDATE document SET id = id + 1000",
    "UPDATE entry SET id = id + 1000",
    "DELETE FROM fts_data",
    "DELETE FROM fts_data WHERE id > 10",
    "DELETE FROM fts_data WHERE id = (SELECT id FROM fts_data LIMIT 1 OFFSET {few})",
    "DELETE FROM fts_idx",
    "DELETE FROM fts_idx WHERE pgno = (SELECT pgno FROM fts_idx LIMIT 1 OFFSET {few})",
    "DELETE FROM fts_docsize",
    "DELETE FROM fts_docsize WHERE id = {row}",
    "DELETE FROM fts_config",
    "DELETE FROM fts_config WHERE k = 'version'",
    "UPDATE fts_config SET v = 99 WHERE k = 'version'",
    "INSERT INTO fts (fts, rank) VALUES ('rank', 'bm25(1.0, 1.0, 1.0, 1.0, 99.0)')",
    "REPLACE INTO fts_config VALUES ('rank', 'nonsense')",
    "DROP TABLE fts",
    "DROP TABLE vocabulary",
    "DROP TABLE document",
    "DROP TABLE entry",
    "DROP TABLE meta",
    "DROP TABLE fts_data",
    "DROP TABLE fts_idx",
    "DROP TABLE fts_docsize",
    "DROP TABLE fts_config",
    "DROP INDEX entry_suspect",
    "DROP INDEX entry_problem",
    "DROP INDEX document_record_id",
    "ALTER TABLE document RENAME TO documents",
    "ALTER TABLE document RENAME COLUMN title TO heading",
    "ALTER TABLE document DROP COLUMN excerpt",
    "ALTER TABLE entry ADD COLUMN more",
    "CREATE TRIGGER t AFTER INSERT ON document BEGIN DELETE FROM document; END",
    "DROP TABLE fts; CREATE VIRTUAL TABLE fts USING fts5 (title, body)",
    "DROP TABLE document; CREATE VIEW document AS SELECT id FROM entry",
    "DELETE FROM meta",
    "DELETE FROM meta WHERE key = '{key}'",
    "UPDATE meta SET value = 'nonsense' WHERE key = '{key}'",
    "UPDATE meta SET value = x'e3a1ff00' WHERE key = '{key}'",
    "UPDATE meta SET value = NULL WHERE key = '{key}'",
    "UPDATE meta SET value = 7.5 WHERE key = '{key}'",
    "UPDATE meta SET value = value + 1 WHERE key IN ('documents', 'terms', 'leaves', 'entries')",
    "REPLACE INTO meta VALUES ('{notes}', x'5b01000000e9')",
    "REPLACE INTO meta VALUES ('{notes}', x'e9ffffffff')",
    "REPLACE INTO meta VALUES ('{notes}', x'')",
    "UPDATE document SET {column} = {column} || char(0) || 'x'",
    "UPDATE document SET {column} = CAST(x'ff41' AS TEXT)",
    "UPDATE document SET {column} = x'ff41'",
    "UPDATE entry SET path = CAST(path || x'00' AS BLOB)",
    "UPDATE entry SET path = CAST(path AS TEXT)",
    "UPDATE entry SET signature = x'00'",
    "UPDATE entry SET signature = 7",
    "UPDATE entry SET digest = x'00' WHERE digest IS NOT NULL",
    "UPDATE entry SET digest = 'text' WHERE digest IS NOT NULL",
    "UPDATE entry SET digest = NULL",
    "UPDATE entry SET problem = x'07'",
    "UPDATE entry SET problem = char(0)",
)
_COLUMNS = ("title", "description", "tags", "type", "modified", "status", "tier", "excerpt")
_KEYS = ("identity", "fingerprint", "built", "generation", "skipped", "unavailable", "withheld")
_TOTALS = ("documents", "terms", "leaves", "entries")


def _by(statement: str) -> Damage:
    def damage(path: str, rng: Random) -> None:
        filled = statement.format(
            row=rng.randrange(1, 31),
            few=rng.randrange(6),
            key=rng.choice(_KEYS + _TOTALS),
            notes=rng.choice(("skipped", "unavailable")),
            column=rng.choice(_COLUMNS),
        )
        with closing(_open(path)) as connection:
            for each in filled.split("; ") if "TRIGGER" not in filled else [filled]:
                connection.execute(each)
        settle(path)

    return damage


ROWS: list[tuple[str, Damage]] = [(each, _by(each)) for each in _STATEMENTS]
