"""Reading and writing a person's crontab, by the program ``crontab`` alone."""

from __future__ import annotations

import re

from index_cache.errors import RootUnavailable
from recall.scheduling import programs
from recall.scheduling.crontab import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recall.scheduling.programs import Done

_ATTEMPTS = 5  # to write what nobody else changed meanwhile
_UNTOUCHED = "nothing was changed"
# What the programs of most systems say, and what that of busybox does.
_NONE = re.compile(r"no crontab for|can't open '[^'/]*': no such file", re.IGNORECASE)


class Crontab:
    """The crontab of whoever runs this. Raises RootUnavailable where there is no cron."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        found = programs.find("crontab", environ)
        if found is None:
            raise RootUnavailable(
                "this machine has no crontab: the program is not in PATH",
                hint="install cron, or choose --kind systemd or --kind launchd",
            )
        self.program = found
        self._environ = environ

    def read(self) -> bytes | None:
        """Return the crontab's bytes, None if there is none. Raises RootUnavailable."""
        done = self._run("-l")
        if done.status == 0:
            return done.out
        if not done.out and _NONE.search(done.said):
            return None
        raise self._failed("the crontab can't be read", done)

    def change(
        self, edit: Callable[[bytes | None], bytes | None]
    ) -> tuple[bytes | None, bytes | None]:
        """Write what ``edit`` makes of the crontab, read right before; return it before and after.

        What somebody else writes meanwhile is edited anew. Raises RootUnavailable when it can't be
        written, and what ``edit`` does; then nothing was changed.
        """
        before = self.read()
        for _ in range(_ATTEMPTS):
            after = edit(before)
            if after == before:
                return before, after
            now = self.read()
            if now == before:
                return before, self._write(after)
            before = now
        raise RootUnavailable(
            "the crontab keeps being changed by somebody else",
            hint=f"try again in a moment; {_UNTOUCHED}",
        )

    def _write(self, data: bytes | None) -> bytes | None:
        if data is None:
            self._checked(self._run("-r"))
        else:
            done = self._run("-", data=data)
            if done.status != 0 and data and not data.endswith(b"\n"):
                # Some take no line without an end, though they have one.
                data += b"\n"
                done = self._run("-", data=data)
            self._checked(done)
        now = self.read()
        if [each.line for each in entries(now)] != [each.line for each in entries(data)]:
            raise RootUnavailable(
                "crontab took the change, but does not list it",
                where=self.program,
                hint="crontab -l shows what there is",
            )
        return data

    def _checked(self, done: Done) -> None:
        if done.status != 0:
            raise self._failed("the crontab can't be written", done)

    def _failed(self, what: str, done: Done) -> RootUnavailable:
        return RootUnavailable(
            f"{what}: {done.said or f'{self.program} ended with {done.status}'}",
            where=self.program,
            hint=f"crontab -l shows whether you may; {_UNTOUCHED}",
        )

    def _run(self, *arguments: str, data: bytes = b"") -> Done:
        return programs.run([self.program, *arguments], self._environ, data)
