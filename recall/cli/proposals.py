"""``recall proposals``: list, show, accept and reject what agents proposed."""

from __future__ import annotations

import os
from contextlib import closing

import click

from recall.cli.common import Console, working_directory
from recall.cli.options import SETTINGS, StrictGroup, examples, json_option, wait_option
from recall.cli.writing import finish, one_root_option
from recall.output import plain, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.model import Root
    from recall.writing.settling import Proposal, Settled


@click.group(cls=StrictGroup, context_settings=SETTINGS, epilog=examples("recall proposals list"))
def command() -> None:
    """List, show, accept and reject proposals.

    What an agent proposed ("recall propose") is not recalled. Accepted it becomes knowledge, below
    knowledge/; rejected it stays below proposals/, with the reason.
    """


@command.command("list", epilog=examples("recall proposals list --all --json"))
@click.option("--all", "everything", is_flag=True, help="Rejected ones too.")
@one_root_option
@json_option
def list_command(*, everything: bool, name: str | None, as_json: bool) -> int:
    """List the proposals that wait, oldest first."""
    from recall.writing import settling

    console = Console("proposals list", as_json=as_json)
    root = _root(name, console)
    found = settling.listed(root)
    shown = [each for each in found if everything or each.status == settling.PENDING]
    return console.finish(
        lambda: {"root": root.name, "proposals": [_fields(each) for each in shown]},
        lambda _: "".join(map(_lines, shown)) or "there are no proposals\n",
    )


@command.command("show", epilog=examples("recall proposals show r-0123456789abcdef"))
@click.argument("id")
@one_root_option
@json_option
def show_command(*, id: str, name: str | None, as_json: bool) -> int:
    """Show the proposal ID with its text."""
    from recall.writing import settling

    console = Console("proposals show", as_json=as_json)
    root = _root(name, console)
    found = settling.find(root, _said(id))
    text = "".join(f"{visible(line)}\n" for line in found.text.split("\n"))
    return console.finish(
        lambda: {"root": root.name, **_fields(found), "text": found.text},
        lambda _: f"{_lines(found)}\n{text}",
    )


@command.command("accept", epilog=examples("recall proposals accept r-0123456789abcdef"))
@click.argument("id")
@one_root_option
@wait_option("another writer")
@json_option
def accept_command(*, id: str, name: str | None, wait: float, as_json: bool) -> int:
    """Make the proposal ID knowledge. It keeps its id."""
    from recall import dirs
    from recall.service import Recall
    from recall.writing import settling
    from recall.writing.adapter import Known

    console = Console("proposals accept", as_json=as_json)
    root = _root(name, console)
    with Recall([root], cwd=working_directory(), environ=os.environ) as recall:
        holders = Known(recall, wait).holders_now
        done = settling.accept(root, dirs.state_dir(os.environ), _said(id), holders, wait=wait)
    return _finished(console, root, done)


@command.command(
    "reject", epilog=examples('recall proposals reject r-0123456789abcdef --reason "Known already"')
)
@click.argument("id")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays with the proposal.")
@one_root_option
@wait_option("another writer")
@json_option
def reject_command(*, id: str, reason: str, name: str | None, wait: float, as_json: bool) -> int:
    """Turn the proposal ID down for good."""
    from recall import dirs
    from recall.writing import settling

    console = Console("proposals reject", as_json=as_json)
    root = _root(name, console)
    done = settling.reject(root, dirs.state_dir(os.environ), _said(id), _said(reason), wait=wait)
    return _finished(console, root, done)


def _said(argument: str) -> str:
    """Return what a person typed: UTF-8, whatever the locale says."""
    return os.fsencode(argument).decode("utf-8", "surrogateescape")


def _root(name: str | None, console: Console) -> Root:
    from recall.writing import writetarget

    target = writetarget.find(name, working_directory(), os.environ)
    console.note_all(target.notices)
    return target.root


def _finished(console: Console, root: Root, done: Settled) -> int:
    from recall.service import Recall
    from recall.writing.adapter import take_in

    with closing(Recall([root], cwd=working_directory(), environ=os.environ)) as recall:
        take_in(recall)
    if done.stripped:
        console.note("private spans were left out of the reason")
    line = done.line
    said = "accepted" if done.action == "accept" else "rejected"
    return finish(
        console,
        os.path.join(root.path, done.path),
        lambda: {
            "root": root.name,
            "action": done.action,
            "id": done.id,
            "title": done.title,
            "path": done.path,
            "abs_path": os.path.join(root.path, done.path),
            "audit": {key: line[key] for key in ("machine", "n", "before", "after", "hash")},
        },
        lambda _: f"{said}: {visible(done.path)}\n",
    )


def _fields(each: Proposal) -> dict[str, object]:
    return {
        "id": each.id,
        "title": each.title,
        "path": each.path,
        "created": each.created,
        "adapter": each.adapter,
        "status": each.status,
        "reason": each.reason,
    }


def _lines(each: Proposal) -> str:
    reason = f": {plain(each.reason)}" if each.reason else ""
    facts = " · ".join(
        visible(fact)
        for fact in (each.status + reason, each.created, each.adapter, each.path)
        if fact
    )
    return f"{visible(each.id)}: {plain(each.title)}\n  {facts}\n"
