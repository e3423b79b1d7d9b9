"""``recall rebuild``: make the caches anew and prove them, or only check them."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import CheckFailed, RootUnavailable
from recall.cli.common import Console, progress_on, working_directory
from recall.cli.options import examples, json_option, root_option, seconds
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.errors import RecallError
    from index_cache.verify import Difference, Proof

_LISTED = 20  # differences of one root in a text; --json has all


@click.command(
    epilog=examples(
        "recall rebuild", "recall rebuild --check", "recall rebuild --root notes --deep"
    )
)
@root_option
@click.option("--check", "only_check", is_flag=True, help="Compare and write nothing; exit 0 or 2.")
@click.option("--deep", is_flag=True, help="Compare every word with its place, not only counts.")
@click.option("--from-canonical", is_flag=True, help="From the notes alone; always so.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
@click.option(
    "--wait",
    type=float,
    default=30.0,
    callback=seconds,
    metavar="SECONDS",
    help="How long to wait for a refresh of the same root.  [default: 30]",
)
@json_option
def command(
    *,
    names: tuple[str, ...],
    only_check: bool,
    deep: bool,
    from_canonical: bool,
    quiet: bool,
    wait: float,
    as_json: bool,
) -> int:
    """Make the caches anew from the notes, and prove them.

    A fresh cache is built beside the old one, read back, and compared with the notes; so is the old
    one, and what it had wrong is listed: "pending" is what the next refresh would mend, "wrong"
    what only a rebuild does. Then the fresh one takes its place, while searches go on. With
    --check nothing is written; the exit status is 2 unless the cache equals the notes.
    """
    from recall import config
    from recall.service import Recall

    del from_canonical  # there is no other source
    cwd = working_directory()
    console = Console("rebuild", as_json=as_json)
    settings = config.load(cwd, os.environ, names, fallback=False)
    missing = [left.notice for left in settings.left_out if left.notice is not None]
    console.note_all(notice for notice in settings.notices if notice not in missing)
    progress = None if quiet else progress_on(sys.stderr)
    try:
        with Recall(settings.roots, cwd=cwd, environ=os.environ) as recall:
            proofs = recall.rebuild(only_check=only_check, deep=deep, wait=wait, progress=progress)
    finally:
        if progress is not None:
            progress.close()
    errors = _errors(proofs, only_check=only_check)
    errors += [RootUnavailable(notice.message, hint=notice.hint) for notice in missing]
    for proof in proofs:
        console.note_all(f"{proof.root.name}: {notice}" for notice in proof.notices)
    for other in errors[1:]:
        console.note(other.message, other.hint)
    return console.finish(
        lambda: {"check": only_check, "roots": [_fields(proof) for proof in proofs]},
        lambda _: "".join(
            _lines(proof, "checked" if only_check else "rebuilt")
            for proof in proofs
            if not quiet or _is_worth_it(proof)
        ),
        errors[0] if errors else None,
    )


def _errors(proofs: Sequence[Proof], *, only_check: bool) -> list[RecallError]:
    """Return the failures, then what a check has found of each cache that is not equal."""
    errors = [proof.failure for proof in proofs if proof.failure is not None]
    errors += [
        CheckFailed(
            f"the cache of root {proof.root.name} is not what its notes say: {_why(proof)}",
            where=proof.cache_file,
            hint=_mend(proof),
        )
        for proof in proofs
        if only_check and proof.failure is None and not proof.equivalent
    ]
    return errors


def _mend(proof: Proof) -> str:
    kinds = {each.kind for each in proof.differences}
    if proof.damage is None and kinds == {"pending"}:
        return "recall refresh brings it up to date"
    if proof.damage is None and kinds == {"unavailable"}:
        return "mount what is missing; recall refresh --prune forgets it"
    return "recall rebuild makes it anew"


def _why(proof: Proof) -> str:
    if proof.damage is not None:
        return f"it is damaged: {proof.damage}"
    if proof.cache_digest is None:
        return "there is none yet"
    if proof.answers is not None and proof.answers[1]:
        return f"{proof.answers[1]:,} of {proof.answers[0]:,} queries got other answers"
    return ", ".join(f"{count:,} {kind}" for kind, count in _by_kind(proof).items())


def _by_kind(proof: Proof) -> dict[str, int]:
    counts = dict.fromkeys(("wrong", "pending", "unavailable", "moving"), 0)
    for each in proof.differences:
        counts[each.kind] += 1
    return {kind: count for kind, count in counts.items() if count}


def _is_worth_it(proof: Proof) -> bool:
    """Return whether even ``--quiet`` tells: something was wrong that no refresh would mend."""
    return proof.damage is not None or "wrong" in _by_kind(proof)


def _lines(proof: Proof, done: str) -> str:
    name = visible(proof.root.name)
    if proof.failure is not None:
        return f"{name}: not {done}\n"
    lines = [f"{name}: {number(proof.documents, 'note')}, {done} in {proof.seconds:.2f} s"]
    if proof.damage is not None:
        lines.append(f"  the old cache was damaged: {visible(proof.damage)}")
    elif proof.cache_digest is None:
        lines.append("  there was no cache")
    else:
        lines.append(f"  {_verdict(proof)}")
    lines.append(f"  digest of the notes   {proof.canonical_digest}")
    if proof.cache_digest is not None:
        lines.append(f"  digest of the cache   {proof.cache_digest}")
    if proof.rebuilt_digest is not None:
        lines.append(f"  digest of the new one {proof.rebuilt_digest}")
    lines += [f"  {_difference(each)}" for each in proof.differences[:_LISTED]]
    if len(proof.differences) > _LISTED:
        lines.append(f"  {len(proof.differences) - _LISTED:,} more: --json lists them all")
    return "\n".join(lines) + "\n"


def _verdict(proof: Proof) -> str:
    was = "was" if proof.rebuilt else "is"
    if not proof.equivalent:
        return f"the cache {was} not what the notes say: {_why(proof)}"
    deep = ", every posting of it" if proof.deep else ""
    asked = f"; {proof.answers[0]} queries answered alike" if proof.answers else ""
    return f"the cache {was} what the notes say{deep}{asked}"


def _difference(each: Difference) -> str:
    path = "no path" if each.path is None else visible(os.fsdecode(each.path))
    return f"{each.kind}: {path}: {', '.join(each.what)}"


def _fields(proof: Proof) -> dict[str, object]:
    from recall.envelope import error_fields

    answers = proof.answers
    return {
        "name": proof.root.name,
        "path": proof.root.path,
        "cache_file": proof.cache_file,
        "equivalent": proof.equivalent,
        "rebuilt": proof.rebuilt,
        "canonical_digest": proof.canonical_digest,
        "cache_digest": proof.cache_digest,
        "rebuilt_digest": proof.rebuilt_digest,
        "deep": proof.deep,
        "documents": proof.documents,
        "terms": proof.terms,
        "counts": _by_kind(proof),
        "differences": [
            {
                "path": None if each.path is None else os.fsdecode(each.path),
                "kind": each.kind,
                "what": list(each.what),
            }
            for each in proof.differences
        ],
        "answers": None if answers is None else {"asked": answers[0], "different": answers[1]},
        "damage": proof.damage,
        "directories": {os.fsdecode(path): text for path, text in proof.directories.items()},
        "seconds": round(proof.seconds, 6),
        "error": None if proof.failure is None else error_fields(proof.failure),
    }
