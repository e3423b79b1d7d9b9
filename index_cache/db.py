"""The only place that opens, creates and deletes cache files.

See ``spec/cache-format.md``; SQLite is apsw's own, never the standard library's.
"""

from __future__ import annotations

import os
import stat

import apsw

from index_cache import checksums, files, schema
from index_cache.digests import hashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from index_cache.errors import RecallError
    from index_cache.model import Root

SUFFIX = ".db"
FRESH = ".fresh" + SUFFIX  # of the file that a rebuild makes
BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a file
_PRIVATE_FILE = 0o600
READ_WAIT = 40  # ms; a search waits for nothing longer than 50
_COMMIT_WAIT = 2_000  # ms that a writer waits for readers, where it must
PAGE = 4096  # bytes
_HASH = 16  # hex digits of identity and fingerprint
refuse_foreign_directory = files.refuse_foreign_directory
refuse_directory, refuse_name = files.refuse_directory, files.refuse_name
ensure_directory = files.ensure_directory


class Damaged(Exception):
    """The file is not a cache of this root: foreign, incomplete or corrupt.

    ``path`` is the cache file's, None when it is in memory or not known.
    """

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


# All that using a cache file may raise; ``is_damage`` tells what of it condemns the file.
TROUBLE = (apsw.Error, UnicodeDecodeError, Damaged)
WAITS = (apsw.BusyError, apsw.LockedError)  # somebody else is at it

_DAMAGE = (
    Damaged,
    apsw.CorruptError,
    apsw.NotADBError,
    UnicodeDecodeError,
    # Rows that are gone gave their numbers to others; nothing of ours ever breaks a constraint.
    apsw.ConstraintError,
    # A length that no text of ours has.
    apsw.TooBigError,
)
# A page that belies its checksum; less in a file than SQLite has just found to be there.
_DAMAGED_BYTES = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHORT_READ)


def is_damage(error: BaseException) -> bool:
    """Tell whether an error says that a file's bytes are not what was written.

    "Locked", "busy", "full", no memory and a disk that fails are never damage. Nor is SQLError,
    which is a fault of ours: the methods of Store look, when they meet one, whether its tables are
    as they were made, and raise Damaged if not.
    """
    if isinstance(error, apsw.IOError):
        # An error that a VFS in Python raised has no such number.
        return getattr(error, "extendedresult", None) in _DAMAGED_BYTES
    return isinstance(error, _DAMAGE)


def reason(error: BaseException) -> str:
    """Return what was wrong with a damaged file, for a person and for the record.

    What SQLite quotes comes from the file: where a page has taken another's place, "malformed
    database schema (…)" names what a note says. So of its messages only the beginning is kept.
    """
    if isinstance(error, Damaged):
        cause = error.__cause__
        return reason(cause) if isinstance(cause, TROUBLE) else str(error)  # our own words
    if isinstance(error, UnicodeDecodeError):
        return "a text in it is no UTF-8"
    if getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_DATA:
        return "a page does not match its checksum"
    if isinstance(error, apsw.IOError):
        return "disk I/O error"  # of some SQLite says "not an error"
    message = str(error)
    for quote in "\"'(`":
        message = message.partition(quote)[0]
    return message.strip() or type(error).__name__


def unusable(root: Root, error: Exception, where: str | None, wait: float) -> RecallError:
    """Return what to say of a cache that can't be used although it is not damaged.

    ``where`` is the cache, if the error does not say; ``wait`` is how many seconds were waited.
    """
    import errno  # of no use to a search that goes well

    from index_cache.errors import RootUnavailable

    if isinstance(error, apsw.BusyError):
        from index_cache import locks

        return locks.busy(root, wait)
    if isinstance(error, apsw.FullError) or getattr(error, "errno", None) == errno.ENOSPC:
        return RootUnavailable(
            f"the cache of root {root.name} can't be written: the disk is full",
            where=where,
            hint="free some space; until then the older cache answers",
        )
    if isinstance(error, OSError):
        writable = "make it writable, or move away what is in its place; it is no note"
        named = error.errno == errno.EILSEQ
        return RootUnavailable(
            f"the cache of root {root.name} can't be used: {error.strerror or error}",
            where=error.filename or where,
            hint="name another directory in XDG_CACHE_HOME" if named else writable,
        )
    return RootUnavailable(
        f"the cache of root {root.name} can't be used: {reason(error)}",
        where=where,
        hint="recall cache list shows where it is; it may be deleted at any time",
    )


def cache_path(directory: str, root: Root) -> str:
    """Return the path of a root's cache file: the root's identity and the program's fingerprint.

    Two roots with the same real path and rules share a file whatever their names; two versions of
    the program never do.
    """
    name = os.path.basename(root.path)
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
    while "--" in slug:
        slug = slug.replace("--", "-")
    slug = slug[:40].strip("-") or "root"
    return os.path.join(directory, f"{slug}-{identity(root)}-{schema.fingerprint()}{SUFFIX}")


def is_cache_name(name: str) -> bool:
    """Tell whether a file's name is one that ``cache_path`` gives, or a rebuild's of that."""
    stem = name.removesuffix(SUFFIX)
    parts = stem.removesuffix(FRESH.removesuffix(SUFFIX)).split("-")
    return stem != name and len(parts) > 2 and all(map(_is_hash, parts[-2:]))  # noqa: PLR2004


def _is_hash(text: str) -> bool:
    return len(text) == _HASH and not text.strip("0123456789abcdef")


def identity(root: Root) -> str:
    """Return 16 hex digits of what makes a root this root: its real path and its rules."""
    key = repr((os.fsencode(root.path), root.rules.as_key()))
    return hashed(key.encode("utf-8", "backslashreplace"), size=_HASH // 2)


def connect(
    path: str | None, wait: int = READ_WAIT, *, mend: bool = True
) -> tuple[apsw.Connection, bool]:
    """Open an existing cache file; return the connection and whether it can be written.

    ``None`` opens an empty one in memory. A file in a directory that can't be written is opened
    read-only, then as immutable (a WAL file can be read there in no other way:
    https://sqlite.org/wal.html#read_only_databases). ``wait`` is how many ms SQLite may wait for
    others; with ``mend`` files get back the rights that their owner has lost. Raises
    apsw.CantOpenError when there is none, Damaged for a symlink, or a file that is
    empty or cut off.
    """
    if path is None:
        return _configured(apsw.Connection(":memory:")), True
    refuse_foreign(path, mend=mend)
    _refuse_cut_off(path)
    directory = os.path.dirname(path)
    if not os.path.lexists(directory):
        raise apsw.CantOpenError(f"there is no directory {directory}")
    if os.access(directory, os.W_OK):
        # The file itself is not asked first: one that another process makes at this moment would
        # be missing when asked, there when opened, and taken for one that can't be written.
        writer = _opened(path, apsw.SQLITE_OPEN_READWRITE, wait)
        return writer, not writer.readonly("main")
    try:
        reader = _opened(path, apsw.SQLITE_OPEN_READONLY, wait)
        reader.pragma("schema_version")
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        if is_unfinished(path):
            raise  # an immutable database has no WAL: what is in there alone would be missing
        uri = "file:" + _uri_path(path) + "?immutable=1"
        reader = _opened(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, wait)
    return reader, False


def refuse_foreign(path: str, *, mend: bool = True) -> None:
    """Raise Damaged when anything but our own files is in the place of a cache file and SQLite's.

    SQLite would wait for a FIFO for ever; and its own refusal of symlinks (SQLITE_OPEN_NOFOLLOW)
    would mind a symlinked ~/.cache as well. With ``mend`` files that lost their owner's rights get
    them back.
    """
    for each in (path, *(path + suffix for suffix in BESIDE)):
        try:
            st = os.lstat(each)
        except OSError:
            continue  # opening it will tell
        if not stat.S_ISREG(st.st_mode) or st.st_uid != os.geteuid():
            raise Damaged("a symlink or somebody else's file has taken its place", path)
        if mend and st.st_mode & _PRIVATE_FILE != _PRIVATE_FILE:
            _give_back(each)


def _give_back(path: str) -> None:
    try:
        os.chmod(path, _PRIVATE_FILE)
    except OSError:
        return  # a read-only file system, where nothing is to be written anyway


def _refuse_cut_off(path: str) -> None:
    """Raise Damaged when a file can't be whole: SQLite takes what is missing of a page for zeros.

    No byte of the file is looked at here: closing it would take the locks from other connections
    of this process, see https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled
    """
    size = _size(path)
    if not size and file_identity(path):
        # SQLite would delete the WAL beside it, which is another's if the file is replaced now.
        raise Damaged("it is empty", path)
    if size % PAGE and not is_unfinished(path):
        raise Damaged("it is cut off", path)


def is_unfinished(path: str | None) -> bool:
    """Tell whether what belongs into a file, or undoes a half-done change, lies beside it."""
    return path is not None and bool(_size(path + "-wal") or _size(path + "-journal"))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _uri_path(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _opened(name: str, flags: int, wait: int = READ_WAIT) -> apsw.Connection:
    return _configured(apsw.Connection(name, flags=flags, vfs=checksums.vfs()), wait)


def _configured(connection: apsw.Connection, wait: int = READ_WAIT) -> apsw.Connection:
    # Before anything else: ten processes that open at once fail without it, WAL's pragma included.
    prepare_reader(connection, wait)
    # The last to close must not hold up the first to open with a checkpoint: the writer makes it.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def create(path: str | None) -> apsw.Connection:
    """Make a cache file with its empty tables; the caller holds its lock.

    The file is 0600 whatever the umask, and so are SQLite's files beside it, which take its mode.
    Where it can't be made, as on a full disk, none is left: it would be taken for a damaged one.
    """
    if path is None:
        return _filled(_configured(apsw.Connection(":memory:")))
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, _PRIVATE_FILE)
    connection = None
    try:
        os.fchmod(descriptor, _PRIVATE_FILE)  # whatever the umask
        os.close(descriptor)
        connection = _opened(path, apsw.SQLITE_OPEN_READWRITE)
        _lay_out(connection, path)
        return _filled(connection)
    except BaseException:
        if connection is not None:
            connection.close()
        discard(path)
        raise


def _lay_out(connection: apsw.Connection, path: str) -> None:
    from index_cache import mounts  # searches create nothing

    connection.pragma("page_size", PAGE)
    if checksums.vfs():
        connection.reserve_bytes("main", checksums.RESERVED)
    # WAL needs memory that all who use the file share.
    if mounts.is_remote(os.path.dirname(path)):
        # Alone and first, as a change to WAL is: only from the header on does the checksums'
        # VFS know that it has work, and a full page cache writes pages out in any order.
        connection.pragma("user_version", 1)
    else:
        connection.pragma("journal_mode", "wal")


def _filled(connection: apsw.Connection) -> apsw.Connection:
    prepare_writer(connection)
    with Transaction(connection):
        for statement in schema.DDL:
            connection.execute(statement)
    return connection


class Transaction:
    """All that happens within, or nothing of it.

    A failing disk ends SQLite's transaction by itself, and then there is nothing to roll back:
    https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def prepare_reader(connection: apsw.Connection, wait: int = READ_WAIT) -> None:
    """Let a connection wait ``wait`` ms for others, whatever it waited for as a writer."""
    connection.set_busy_timeout(wait)


def prepare_writer(connection: apsw.Connection) -> None:
    """Make a connection fit for writing; of no use to a reader."""
    if connection.pragma("journal_mode") == "delete":
        # Here a commit waits for the readers. In WAL mode nothing needs to: a checkpoint that
        # finds one in its way leaves its work to the next.
        connection.set_busy_timeout(_COMMIT_WAIT)
        connection.pragma("synchronous", "full")
    else:
        connection.pragma("synchronous", "normal")
    connection.pragma("secure_delete", True)  # noqa: FBT003 - the pragma's value
    # A copy of the text that is being compacted must not lie in a temporary file.
    connection.pragma("temp_store", "memory")
    # Pages (40 MB) before a checkpoint in the midst of a refresh; there is one at its end anyway.
    connection.pragma("wal_autocheckpoint", 10_000)


def pages(path: str | None) -> int:
    """Return how many whole pages a cache file has; what lies in its WAL alone is not counted."""
    return 0 if path is None else _size(path) // PAGE


def file_identity(path: str | None) -> tuple[int, int] | None:
    """Return what tells the file at a path from one that takes its place; None without one."""
    if path is None:
        return None
    try:
        st = os.stat(path)
    except OSError:
        return None
    return st.st_dev, st.st_ino


def discard(path: str) -> None:
    """Delete a damaged or unwanted cache file and what SQLite keeps beside it; needs its lock.

    Raises OSError, such as for a directory in its place that is not empty.
    """
    for each in (path, *(path + suffix for suffix in BESIDE)):
        try:
            remove(each)
        except FileNotFoundError:
            continue


def remove(path: str) -> None:
    """Delete a file or symlink, or an empty directory in its place. Raises OSError."""
    if os.path.isdir(path) and not os.path.islink(path):
        os.rmdir(path)
    else:
        os.unlink(path)
