"""The pages under ``spec/`` say what the code says, where a test can compare the two."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from index_cache import (
    analyze,
    candidates,
    checksums,
    db,
    digests,
    files,
    filters,
    frontmatter,
    markdown,
    model,
    parse,
    scan,
    schema,
    text,
)
from index_cache.model import Root, Rules
from index_cache.parse import TIERS
from index_cache.refresh import refresh
from index_cache.store import Store
from recall import (
    asked,
    gate,
    grams,
    hookcommand,
    hostfiles,
    installing,
    jsonedit,
    ledger,
    looked,
    named,
    naming,
    operators,
    query,
    reading,
    recalllog,
    relevance,
    resolved,
    searching,
    settings,
    spelling,
    stale,
    summary,
    sweeping,
    topic,
)
from recall.hookcommand import command_line
from recall.writing import adapter, alike, audit, auditchain, filenames, payload, writejournal

REPOSITORY = Path(__file__).parent.parent
SPEC = REPOSITORY / "spec"


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]


def page(name: str) -> str:
    return (SPEC / name).read_text(encoding="utf-8")


def cells(text: str) -> dict[str, str]:
    """Return the rows of a page's tables, first cell to second, code marks gone."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|", text, re.MULTILINE)
    return {first.strip("`"): second for first, second in rows}


def test_tables_and_their_columns() -> None:
    listed = dict(re.findall(r"^\| `(\w+) \((.+?)\)` \|", page("cache-format.md"), re.MULTILINE))
    connection = Store.create(Root("r", "/r"), None).connection
    for table, columns in listed.items():
        real = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        assert columns.split(", ") == real
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")]
    ours = {name for name in tables if not re.match(r"fts_|sqlite_|entry_|document_", name)}
    assert ours == {*listed, "vocabulary"}


def test_keys_of_meta(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one", encoding="utf-8")
    store = Store.create(Root("r", str(tmp_path), Rules(strict=True)), None)
    refresh(store, files.FileSystem())
    (tmp_path / "a.md").write_text("two and more", encoding="utf-8")
    refresh(store, files.FileSystem())
    found = {key for (key,) in store.connection.execute("SELECT key FROM meta")}
    told = page("cache-format.md").partition("| key of `meta` | value |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.+?) \|", told, re.MULTILINE)
    assert found == {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def test_reasons_of_what_is_left_out() -> None:
    told = set(cells(page("canonical-view.md").partition("## Globs")[0]))
    modules = (REPOSITORY / "index_cache" / name for name in ("scan.py", "limits.py"))
    texts = {
        node.value
        for module in modules
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    varying = {"conflict copy of NAME", "beyond the root's limit of N files"}
    assert {reason.partition(" NAME")[0] for reason in told - varying - {"reason told"}} <= texts
    assert any("conflict copy of " in each for each in texts)
    assert "beyond the root's limit of" in texts


def weights() -> str:
    """Return the fields with their weights, those of one weight together."""
    told: dict[float, list[str]] = {}
    for field, weight in zip(schema.FIELDS, schema.WEIGHTS, strict=True):
        told.setdefault(weight, []).append(field)
    return ", ".join(f"{' and '.join(fields)} {weight:g}" for weight, fields in told.items())


# The parts of a score and their weights, as the table of the page has them.
PARTS = {
    "bm25": "1",
    "passage": f"{relevance.PASSAGE:g}",
    "title": f"{relevance.TITLE:g}",
    "precision": f"{relevance.PRECISION:g}",
    "path": f"{relevance.PATH:g}",
    "grams": f"{relevance.GRAMS:g}",
    "near": f"{relevance.NEAR:g} of the sum",
    "tier": ", ".join(f"{relevance.TIERS[tier]:g}" for tier in reversed(TIERS[1:])) + " of the sum",
    "recency": "WEIGHT of the sum",
    "stale": f"−{relevance.STALE:g} of the sum",
}


def test_the_parts_of_a_score() -> None:
    rows = re.findall(r"^\| (\w+) \| .+ \| (.+?) \|$", page("query-and-ranking.md"), re.MULTILINE)
    told = {part: re.sub(r"(?<!\d)\.", "0.", weight) for part, weight in rows}
    assert {part: told[part] for part in PARTS} == PARTS


def test_what_no_longer_holds_and_the_algorithms() -> None:
    (told,) = re.findall(r"the `status` is (.+?), in any case", page("query-and-ranking.md"))
    assert re.split(r", | or ", told) == stale._OVER.split()
    (told,) = re.findall(r"note's language: `([^`]+)`", page("analyzer.md"))
    assert told.split() == list(analyze.STEMMERS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("canonical-view.md", f"by default {model.MAX_FILE_BYTES >> 20} MiB"),
        ("canonical-view.md", f"by default {model.MAX_FILES:,},"),
        ("canonical-view.md", f"{text._SNIFFED:,} bytes"),
        ("canonical-view.md", f"{frontmatter.MAX_YAML >> 10} Ki"),
        ("canonical-view.md", f"{frontmatter._MAX_GROWN >> 10} Ki"),
        ("canonical-view.md", f"{frontmatter._MAX_ITEMS:,} items"),
        ("canonical-view.md", f"{parse.MAX_FIELD:,} characters"),
        ("canonical-view.md", f"{parse._MAX_LISTED} different"),
        ("canonical-view.md", f"{markdown.EXCERPT_LENGTH} characters"),
        ("cache-format.md", f"`{analyze.WORD_PUNCTUATION}`"),
        ("cache-format.md", f"bm25({', '.join(f'{weight:g}' for weight in schema.WEIGHTS)})"),
        ("cache-format.md", f"timeout of {db.READ_WAIT} ms"),
        ("cache-format.md", f"{db.PAGE:,} bytes, of which the last {checksums.RESERVED}"),
        ("cache-format.md", f"up to {db._COMMIT_WAIT // 1000} s"),
        ("cache-format.md", f"`{scan._SIGNATURE.format}`"),
        ("staleness.md", f"{files.GRANULARITY_NS // 10**9} s older"),
        ("analyzer.md", f"`{analyze.WORD_PUNCTUATION}`"),
        ("analyzer.md", f"A term has at most {analyze.MAX_TERM} characters"),
        ("query-and-ranking.md", f"more than {query.MAX_LOOKED_UP:,} the longest"),
        ("query-and-ranking.md", f"fewer than {query.FEW_DOCUMENTS:,} documents"),
        ("query-and-ranking.md", f"The {query.MAX_TERMS} rarest"),
        ("query-and-ranking.md", f"after {candidates.MAX_CANDIDATES:,} documents"),
        ("query-and-ranking.md", f"at most {summary.LONGEST} characters"),
        ("query-and-ranking.md", f"{summary.MAX_BODY >> 10} Ki characters of the body"),
        ("operators.md", f"more than {operators.MAX_VALUE} characters"),
        ("operators.md", f"follows {operators.MAX_OPERATORS} chunks"),
        ("hook.md", f"{naming.MOST} pieces of {naming.LONGEST} characters"),
        ("hook.md", f"last {naming.LOOKED_AT // 2:,} characters of the prompt"),
        ("hook.md", f"first or last {named.TITLES_IN // 2:,} characters"),
        ("hook.md", f"more than {named.MOST_ALIKE} texts"),
        ("hook.md", f"at most {naming.ONLY:,} characters is *only names*"),
        ("ledger.md", f"over {ledger.MAX_ENTRIES} lines the newest {ledger._KEPT} documents"),
        ("ledger.md", f"more than {ledger.EXPIRY / 86_400:g} days from now"),
        ("ledger.md", f"all but the youngest {ledger.MAX_CONVERSATIONS}"),
        ("recall-log.md", f"{digests.KEY_BYTES} random bytes"),
        ("recall-log.md", f"{recalllog.MAX_TEXT:,} characters at most"),
        ("recall-log.md", f"longer than {recalllog.LONGEST:,} characters"),
        ("recall-log.md", f"at most {recalllog.MAX_LINE >> 10} KiB"),
        ("recall-log.md", f"larger than {recalllog.MAX_BYTES >> 10} KiB"),
        ("recall-log.md", f"renamed {recalllog._SLACK >> 10} KiB later"),
        ("gate.md", f"{topic.MAX_PIECES:,} different pieces"),
        ("gate.md", f"more than {topic._LONGEST_PIECE} ASCII characters"),
        ("gate.md", f"counts {topic.CHORE_WEIGHT:.2f} of a word".replace("0.", ".")),
        ("gate.md", f"{gate._WORDS:g} · ln(1 + words)"),
        ("gate.md", f"{gate._STRENGTH:g} · ln(1 + strength)"),
        ("gate.md", f"−{-gate._UNKNOWN:g} · min(unknown / {gate._MAX_UNKNOWN:g}, 1)"),
        ("gate.md", f"{gate._NAMED:g} · named"),
        ("gate.md", f"−{-gate._LENGTH:g} · ln(length / {gate._SHORT:g})"),
        ("gate.md", f"between {gate._SHORT:g} and {gate._LONG:,.0f}"),
        ("gate.md", f"at most {gate._IN_HEAD:g} if"),
        ("gate.md", f"−{-gate._NOTES:g} · ln(M + 1.5)".replace("0.", ".")),
        ("gate.md", f"{gate._SATURATED:g} · ln(M + 1.5)"),
        ("gate.md", f"M is N, {gate._SMALL} at least"),
        ("gate.md", f"its text alone, counts {gate._ONCE:g}".replace("0.", ".")),
        ("gate.md", f"more than {gate._BEHIND:g} points below the best"),
        ("gate.md", f"at most {gate._FEW} notes have it, or {100 * gate._RARE:g} % of them"),
        ("gate.md", f"{gate._MAX_KIN} are tried"),
        ("gate.md", f"{gate._BAR:g} + {gate._BAR_PER_SENSITIVITY:g} · (.5 − sensitivity)"),
        ("query-and-ranking.md", f"weights {weights()}"),
        ("query-and-ranking.md", f"| passage | bm25 of the best {relevance.WINDOW} terms"),
        ("query-and-ranking.md", f"the {reading.READ} best by the sum so far"),
        ("query-and-ranking.md", f"five, but {searching.RESCORED} at least"),
        ("query-and-ranking.md", f"as have {candidates._FIRST_PASS:,} documents together"),
        ("query-and-ranking.md", f"has any, {candidates._LEAST_PASS} at least"),
        ("query-and-ranking.md", f"as have {candidates._NEXT_PASS} times the documents"),
        ("query-and-ranking.md", f"counts {relevance.UNSAID:g} of the idf'".replace("0.", ".")),
        ("query-and-ranking.md", f"all of them ({relevance._LEAST_TITLE:g} at least)"),
        ("query-and-ranking.md", f"a word of {NUMBERS[spelling.SHORTEST]} letters or more"),
        ("query-and-ranking.md", f"other, which has at least {NUMBERS[spelling._BEGINNING]}"),
        ("query-and-ranking.md", f"to the {NUMBERS[spelling._MOST]} likeliest terms"),
        ("query-and-ranking.md", f"the first {NUMBERS[asked._MOST_UNKNOWN]} of them"),
        ("query-and-ranking.md", f"asked for, and {NUMBERS[searching._SPARE]}, but"),
        ("writing.md", f"at most {payload.MAX_PAYLOAD:,} bytes"),
        ("writing.md", f"| {payload.MAX_TEXT:,} bytes |"),
        ("writing.md", f"| {payload.MAX_LINKS} items of {payload.MAX_META:,} bytes |"),
        ("writing.md", f"| {filenames.PATH_BYTES:,} bytes |"),
        ("writing.md", f"At most {filenames.SLUG_BYTES} bytes, cut between words"),
        ("writing.md", f"longer than {filenames.NAME_BYTES} bytes"),
        ("writing.md", f"resemblance of at least {alike.RESEMBLES:g}"),
        ("writing.md", f"of {alike.LEAST} or more, containment in the note of at least"),
        ("writing.md", f"at least {alike.CONTAINS:g}"),
        ("writing.md", f"the best {adapter._LOOKED_AT} hits of the root"),
        ("writing.md", f"its first {adapter._ASKED:,} characters"),
        ("writing.md", f"`{writejournal.PENDING}/MACHINE.json`"),
        ("writing.md", f"`{writejournal.AUDIT}/MACHINE{writejournal.SUFFIX}`"),
        ("writing.md", f"kept as `{audit.MACHINE_FILE}` in the state directory"),
        (
            "cache-format.md",
            f"`type` ends with one more, `{filters.JOURNAL}` or `{filters.PROPOSAL}`",
        ),
        ("equivalence.md", f"The `{filters.JOURNAL}` of a journal"),
        ("query-and-ranking.md", f"first {grams.LOOKED_AT:,} characters of the body"),
        ("query-and-ranking.md", f"more than {reading.MOST_WORDS} different ones"),
        ("query-and-ranking.md", f"to the {asked._MOST_PAIRS} first pairs"),
        ("query-and-ranking.md", f"(age / {relevance._HALF_LIFE / 86_400:g} days)"),
    ],
)
def test_numbers(name: str, value: str) -> None:
    assert value in " ".join(page(name).split())


def test_settings_of_the_hook() -> None:
    told = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = cells(told.partition("### `[hook]`")[2].partition("\n\nFor ")[0])
    assert set(rows) - {"key", "---"} == set(settings.HOOK_KEYS)
    for key, (low, high) in settings.HOOK_BOUNDS.items():
        assert f"{low:,} to {high:,}" in rows[key]
    assert rows["sensitivity"] == ", ".join(f'`"{each}"`' for each in settings.SENSITIVITIES)
    usual = settings.HookSettings()
    defaults = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| `?([^|]+?)`? \|", told, re.MULTILINE))
    for key in set(settings.HOOK_KEYS) - {"cap"}:
        assert defaults[key].strip('"').lower() == f"{getattr(usual, key)}".lower().removesuffix(
            ".0"
        )


def test_the_words_are_those_of_the_code() -> None:
    words = cells(page("vocabulary.md"))
    assert set(parse.TIERS) <= set(re.findall(r"`([\w-]+)`", words["tier"]))


def test_fields_of_the_recall_log(tmp_path: Path) -> None:
    import json

    where = str(tmp_path)
    recalllog.record(where, host="h", spoke=True, why="w", prompt="p", with_text=True)
    fields = json.loads((tmp_path / recalllog.FILE).read_bytes())
    told = re.findall(r"(?m)^\| (`.+?) \|", page("recall-log.md"))
    assert set(fields) == {name for row in told for name in re.findall(r"`(\w+)`", row)}


def test_every_page_and_vector_file_that_is_named_is_there() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in SPEC.glob("*.md")}
    for each, content in pages.items():
        for name in re.findall(r"`([\w-]+\.md|(?:vectors|schema)/[\w-]+\.json)`", content):
            known = (SPEC / name).exists() or name in {"NAME.md", "note.md"}
            assert known, f"{each} names {name}"
    named = set(re.findall(r"vectors/([\w-]+\.json)", "".join(pages.values())))
    assert named == {path.name for path in (SPEC / "vectors").iterdir()}


def test_what_the_kept_configuration_depends_on() -> None:
    text = page("resolved.md")
    assert set(looked._QUESTIONS) == set(cells(text)) - {"question", "---"}
    variables = re.findall(r"`([A-Z_]+)`", text.partition("`made_for` is")[2].partition("]")[0])
    assert variables == list(resolved.VARIABLES)
    assert f"{resolved.MAX_BYTES // 1024} KiB at most" in text
    assert f"{resolved.MAX_KEPT:,} most lately used" in text
    assert resolved._MONTH == 30 * resolved._DAY
    assert sweeping.LEFTOVER == 3600


def test_fields_of_an_explanation() -> None:
    import json

    schema = json.loads((SPEC / "schema" / "hook.json").read_text(encoding="utf-8"))
    told = page("output.md").partition("## `hook --explain`")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| (`.+?) \|", told)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == set(schema["properties"]) - {"notices"}
    (hits,) = re.findall(r"(?m)^\| `hits` \| (.+) \|", told)
    assert set(re.findall(r"`(\w+)`", hits)) == set(schema["$defs"]["hit"]["properties"])


def test_files_and_commands_of_hosts() -> None:
    told = page("install.md")
    rows = re.findall(r"(?m)^\| `(\w+)` \| (.+?) \| `(.+?)` \| (.+?) \| (\d+) ", told)
    assert [row[0] for row in rows] == list(hostfiles.HOST_FILES)
    for name, user, project, events, timeout in rows:
        host = hostfiles.HOST_FILES[name]
        assert user.startswith(f"`~/{host.usual}/{host.file}` (`{host.variable}`")
        assert project == host.project
        assert tuple(re.findall(r"`(\w+)`", events)) == host.events
        assert int(timeout) == hostfiles.TIMEOUT * host.per_second
    assert f"under {hostfiles.LEAST_TIMEOUT} s, or no number" in told
    assert command_line(["PROGRAM"], "NAME") in told.splitlines()
    assert command_line(["PROGRAM"], "gemini", "{}") in told.splitlines()
    assert f"deeper than {jsonedit.MAX_DEPTH}" in told
    assert f"over {installing.MAX_BYTES >> 20} MiB" in told
    assert f"`{hookcommand._DOLLAR}`".strip("`") in told


def test_fields_of_a_payload_and_of_a_line_of_the_audit() -> None:
    text = page("writing.md")
    fields = text.partition("## Payload")[2].partition("\nThe whole")[0]
    assert listed(fields) == set(payload.FIELDS)
    keys = text.partition("## Audit")[2].partition("\nNo text")[0]
    assert listed(keys) == set(auditchain.FIELDS)
    names = text.partition("## Names")[2]
    assert all(f"`{directory}/`" in names for directory in payload.DIRECTORIES.values())
    assert all(name in names.partition("get `-note`")[0] for name in filenames._OTHERS)


def listed(table: str) -> set[str]:
    """Return the words marked as code in the first cells of a table's rows."""
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    return set(re.findall(r"`(\w+)`", "".join(rows)))
