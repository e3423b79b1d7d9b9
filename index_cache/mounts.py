"""Whether a directory lies on a network file system, where SQLite's WAL is unsafe.

See https://sqlite.org/wal.html and ``spec/cache-format.md``.
"""

from __future__ import annotations

import os

_MOUNTS = "/proc/self/mountinfo"
# How their types begin; folders that a virtual machine shares with its host among them.
_REMOTE = (
    *("nfs", "cifs", "smb", "9p", "afs", "ncp", "coda", "davfs", "virtiofs", "vboxsf", "prl_fs"),
    *("ceph", "lustre", "glusterfs", "gfs", "ocfs2", "beegfs", "gpfs", "orangefs", "pvfs2"),
    *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse"),
    *("fuse.davfs", "fuse.nfs", "fuse.smb", "fuse.afs", "fuse.vmhgfs"),
)


def is_remote(directory: str) -> bool:
    """Tell whether a directory is on a network file system. What can't be found out is local."""
    try:
        device = os.stat(directory).st_dev
        with open(_MOUNTS, "rb") as file:
            mounts = file.read()
    except OSError:
        return False  # no Linux
    number = f"{os.major(device)}:{os.minor(device)}".encode()
    kind = file_system(mounts, number, os.fsencode(os.path.realpath(directory)))
    return kind.startswith(_REMOTE)


def file_system(mounts: bytes, device: bytes, directory: bytes) -> str:
    """Return the type of the file system that a directory is on, "" when none fits; pure.

    ``mounts`` is the content of /proc/self/mountinfo, ``device`` is "major:minor", ``directory``
    absolute and free of symlinks. Of several mounts of one device the longest mount point
    around the directory counts, and of several at one place the last, which hides the others.
    Some file systems (btrfs, overlays) show another device number to stat than in that list:
    then the mount point alone decides.
    """
    best = (False, -1)
    kind = ""
    for line in mounts.splitlines():
        fields = line.split(b" ")
        try:
            place, found = _unescaped(fields[4]), fields[fields.index(b"-", 6) + 1]
        except (IndexError, ValueError):
            continue
        if not (directory + b"/").startswith(place.rstrip(b"/") + b"/"):
            continue
        rank = (fields[2] == device, len(place))
        if rank >= best:
            best, kind = rank, found.decode("ascii", "replace")
    return kind


def _unescaped(field: bytes) -> bytes:
    """Return a field with its octal escapes (blank, tab, newline, backslash) undone."""
    head, *rest = field.split(b"\\")
    return head + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in rest)
