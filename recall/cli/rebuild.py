"""``recall rebuild``: make the caches anew and prove them, or only check them."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import CheckFailed, RootUnavailable
from recall.cli.common import Console, progress_on, working_directory
from recall.cli.options import (
    Strict,
    examples,
    group_option,
    json_option,
    quiet_option,
    root_option,
    wait_option,
)
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from index_cache.errors import RecallError
    from index_cache.verify import Difference, Proof

_LISTED = 20  # differences of one root in a text; --json has all


@click.command(
    cls=Strict,
    epilog=examples(
        "recall rebuild", "recall rebuild --check", "recall rebuild --root notes --deep"
    ),
)
@root_option
@group_option
@click.option("--check", "only_check", is_flag=True, help="Compare and write nothing; exit 0 or 2.")
@click.option("--deep", is_flag=True, help="Compare every word with its place, not only counts.")
@click.option(
    "--from-canonical", is_flag=True, help="Taken for clarity: the notes are always the source."
)
@quiet_option
@wait_option("a refresh")
@json_option
def command(
    *,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    only_check: bool,
    deep: bool,
    from_canonical: bool,
    quiet: bool,
    wait: float,
    as_json: bool,
) -> int:
    """Make the caches anew from the notes, and prove them.

    A new cache is built beside the old one, read back and compared with the notes; only if they are
    equal does it take the old one's place. Searches go on meanwhile. What the old one had
    otherwise is listed: "pending" is what the next refresh would have mended, "wrong" what it would
    not, "unavailable" could not be looked at, "moving" kept changing.

    With --check the cache is only compared: exit 0 when it equals the notes, 2 when not, 3 to 6
    when a root could not be checked at all.
    """
    from recall import config
    from recall.service import Recall

    del from_canonical  # there is no other source
    cwd = working_directory()
    console = Console("rebuild", as_json=as_json)
    settings = config.load(cwd, os.environ, names, groups=groups, fallback=False)
    missing = [left.notice for left in settings.left_out if left.notice is not None]
    console.note_all(notice for notice in settings.notices if notice not in missing)
    with (
        progress_on(sys.stderr, quiet=quiet) as progress,
        Recall(settings.roots, cwd=cwd, environ=os.environ) as recall,
    ):
        proofs = recall.rebuild(only_check=only_check, deep=deep, wait=wait, progress=progress)
    errors = proof_errors(proofs, only_check=only_check)
    errors += [RootUnavailable(notice.message, hint=notice.hint) for notice in missing]
    for proof in proofs:
        console.note_all(f"{proof.root.name}: {notice}" for notice in proof.notices)
        if quiet and not only_check and proof.failure is None:
            console.note_all(_worth_saying(proof))
    for other in errors[1:]:
        console.note(other.message, other.hint)
    return console.finish(
        lambda: {"check": only_check, "roots": [_fields(proof) for proof in proofs]},
        lambda _: (
            "" if quiet else "".join(proof_lines(each, only_check=only_check) for each in proofs)
        ),
        errors[0] if errors else None,
    )


def _worth_saying(proof: Proof) -> Iterator[str]:
    """Yield what even ``--quiet`` tells: what was wrong and no refresh would have mended."""
    name = proof.root.name
    if proof.damage is not None:
        yield f"{name}: its cache was damaged ({proof.damage}) and has been made anew"
    wrong = [each for each in proof.differences if each.kind == "wrong"]
    if wrong:
        yield (
            f"{name}: its cache was wrong in {len(wrong):,} places, the first "
            f"{_difference(wrong[0])}; it has been made anew"
        )


def proof_errors(proofs: Sequence[Proof], *, only_check: bool) -> list[RecallError]:
    """Return the failures, then what a check has found of each cache that is not equal."""
    errors = [proof.failure for proof in proofs if proof.failure is not None]
    errors += [
        CheckFailed(_why_unequal(proof), where=proof.cache_file, hint=_mend(proof))
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


def _why_unequal(proof: Proof) -> str:
    if proof.damage is not None:
        return f"the cache of root {proof.root.name} is damaged: {proof.damage}"
    if proof.cache_digest is None:
        return f"root {proof.root.name} has no cache yet"
    return f"the cache of root {proof.root.name} does not equal its notes: {_counted(proof)}"


def _counted(proof: Proof) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in by_kind(proof).items())


def by_kind(proof: Proof) -> dict[str, int]:
    """Return how many differences of each kind there are, the worst kind first."""
    counts = dict.fromkeys(("wrong", "pending", "unavailable", "moving"), 0)
    for each in proof.differences:
        counts[each.kind] += 1
    return {kind: count for kind, count in counts.items() if count}


def proof_lines(proof: Proof, *, only_check: bool) -> str:
    """Return what was found of one root's cache, for people."""
    name = visible(proof.root.name)
    done = "checked" if only_check else "rebuilt"
    if proof.failure is not None:
        return f"{name}: not {done}\n"
    state = _state(proof)
    verdict = f"the cache is {state}" if only_check else "the new cache equals them, and is in use"
    count = number(proof.documents, "note")
    lines = [f"{name}: {count} {done} in {proof.seconds:.2f} s; {verdict}"]
    if not only_check:
        lines.append(f"  before: {state}")
    lines.append(f"  digest {proof.canonical_digest}")
    if proof.cache_digest not in {None, proof.canonical_digest}:
        lines.append(f"  of the {'cache' if only_check else 'old one'} {proof.cache_digest}")
    lines += [f"  {_difference(each)}" for each in proof.differences[:_LISTED]]
    if len(proof.differences) > _LISTED:
        lines.append(f"  {len(proof.differences) - _LISTED:,} more: --json lists them all")
    return "\n".join(lines) + "\n"


def _state(proof: Proof) -> str:
    """Return what the cache was found to be."""
    if proof.damage is not None:
        return f"damaged: {visible(proof.damage)}"
    if proof.cache_digest is None:
        return "missing"
    asked, different = proof.answers or (0, 0)
    if different:
        return f"wrong in the answers to {different:,} of {asked:,} sample queries"
    if not proof.equivalent:
        return f"different from them: {_counted(proof)}"
    deep = ", each word in its place" if proof.deep else ""
    answers = f"; {asked} sample queries found the same" if asked else ""
    return f"equal to them{deep}{answers}"


def _difference(each: Difference) -> str:
    path = "no path" if each.path is None else visible(os.fsdecode(each.path))
    return f"{each.kind}: {path}: {_what(each)}"


def _what(each: Difference) -> str:
    pending = each.kind == "pending"
    if each.what == ("missing",):
        return "new since the last refresh" if pending else "missing in the cache"
    if each.what == ("extra",):
        return "gone since the last refresh" if pending else "only in the cache"
    names = ", ".join(each.what)
    return f"edited since the last refresh ({names})" if pending else names


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
        "counts": by_kind(proof),
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
