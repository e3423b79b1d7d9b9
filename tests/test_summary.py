"""The one line of a note that a card shows: whole sentences, where they stand, in linear time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st

from index_cache.analyze import Analyzer
from index_cache.blocks import blocks
from index_cache.model import Term
from recall import Recall
from recall.summary import LONGEST, MAX_BODY, best_line, pieces

if TYPE_CHECKING:
    from pathlib import Path

ANALYZER = Analyzer()


def best(body: str, query: str, **weights: float) -> tuple[str, int] | None:
    terms = {**dict.fromkeys(ANALYZER.terms(query), 1.0), **weights}
    found = best_line(body, {Term(term): weight for term, weight in terms.items()}, ANALYZER)
    return (found.text, found.number) if found else None


def texts(body: str) -> list[tuple[int, str]]:
    return [piece for block in blocks(body) for piece in pieces(block)]


WRAPPED = """# Undoing things

Sometimes we wish to go back to what we
have. We wish we could undo what we've done, but the commit we've reset is
gone. Luckily there is the
reflog.
"""


def test_hard_wrapped_lines_become_whole_sentences_with_their_line() -> None:
    assert texts(WRAPPED) == [
        (1, "Undoing things"),
        (3, "Sometimes we wish to go back to what we have."),
        (4, "We wish we could undo what we've done, but the commit we've reset is gone."),
        (5, "Luckily there is the reflog."),
    ]
    assert best(WRAPPED, "reset commit gone") == (
        "We wish we could undo what we've done, but the commit we've reset is gone.",
        4,
    )
    assert best(WRAPPED, "luck reflog") == ("Luckily there is the reflog.", 5)


def test_what_joins_and_what_does_not() -> None:
    body = (
        "- first item\n  goes on\n- [x] second\n1. third\n2. fourth\n\n"  # 1 to 6
        "> quoted\n> on\n\n"  # 7 to 9
        "| a | b |\n|---|---|\n| c | d |\n\n"  # 10 to 13
        "before\n# Heading\nafter\n\n"  # 14 to 17
        "Title\n=====\ntext\n\n***\n"  # 18 to 22
        "text\n    lazy\n\n    code one\n    code two\n"  # 23 to 27
    )
    assert texts(body) == [
        (1, "first item goes on"),
        (3, "second"),
        (4, "third"),
        (5, "fourth"),
        (7, "quoted on"),
        (10, "a b"),
        (12, "c d"),
        (14, "before"),
        (15, "Heading"),
        (16, "after"),
        (18, "Title"),
        (20, "text"),
        (23, "text lazy"),
        (26, "code one"),
        (27, "code two"),
    ]


def test_what_is_no_text_is_passed_over() -> None:
    body = (
        "a [b](http://x/needle) ![needle](y)\n\n<!--\nhidden\n# hidden\n-->\n\n<p>needle</p>\n\nc\n"
    )
    assert texts(body) == [(1, "a b"), (10, "c")]
    assert best(body, "needle") is None


def test_lines_of_code_stay_lines() -> None:
    body = "text\n```sh\n# comment. One\nrun  it\n\n~~~\n```\nmore\n````\n```\n````\nend\n"
    assert texts(body) == [
        (1, "text"),
        (3, "# comment. One"),
        (4, "run it"),
        (6, "~~~"),
        (8, "more"),
        (10, "```"),
        (12, "end"),
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        (
            "See v1.2.3. It is e.g. here.",
            ["See v1.2.3.", "It is e.g. here."],
        ),
        ("Ask Dr. Who at No. 5. Then go.", ["Ask Dr. Who at No. 5.", "Then go."]),
        ("“Quoted.” And (so.) Then.", ["“Quoted.”", "And (so.)", "Then."]),
        ("日本語の文。次の文！終わり", ["日本語の文。", "次の文！", "終わり"]),
        ("एक वाक्य। दूसरा", ["एक वाक्य।", "दूसरा"]),
        ("Wait... what? no", ["Wait... what? no"]),
        ("Это одно. Это т.е. другое.", ["Это одно.", "Это т.е. другое."]),
        ("a;b; c: d", ["a;b; c: d"]),
        ("... .", ["...", "."]),
    ],
)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert [piece for _, piece in texts(text)] == wanted


def test_long_sentences_are_taken_apart_between_words() -> None:
    words = [f"word{number}" for number in range(200)]
    body = "\n".join(" ".join(words[at : at + 10]) for at in range(0, 200, 10))
    found = texts(body)
    assert " ".join(piece for _, piece in found).split() == words
    assert all(len(piece) <= LONGEST for _, piece in found)
    lines = body.split("\n")
    assert all(piece.split()[0] in lines[number - 1] for number, piece in found)


def test_the_number_of_a_line_is_that_of_an_editor() -> None:
    body = "one\x0c two\u2028 three\x85\r\nfour\r\n\r\nneedle\r\n"
    assert best(body, "needle") == ("needle", 5 - 1)


def test_the_rarest_terms_decide_and_then_the_first() -> None:
    body = "Common common.\n\nRare thing.\n\nAnother rare thing.\n"
    assert best(body, "", common=1.0, rare=2.0) == ("Rare thing.", 3)


def test_sentences_answer_before_rows_and_code_with_the_same_terms() -> None:
    rule = "|---|\n"
    assert best(f"| keys |\n{rule}\nAbout keys.\n", "deploy keys") == ("About keys.", 4)
    assert best("```\nget keys\n```\nAbout keys.\n", "deploy keys") == ("About keys.", 4)
    assert best(f"| deploy keys |\n{rule}\nAbout keys.\n", "deploy keys") == ("deploy keys", 1)


def test_headings_answer_only_when_nothing_else_does() -> None:
    assert best("# Deploy keys\n\nAbout keys.\n", "deploy keys") == ("About keys.", 3)
    assert best("Deploy keys\n---\n\nAbout keys.\n", "deploy keys") == ("About keys.", 4)
    assert best("# Deploy keys\n\nOther.\n", "deploy keys") == ("Deploy keys", 1)
    assert best("Other.\n", "deploy keys") is None
    # In a fence it is a comment of the code.
    assert best("```\n# deploy keys\n```\n\nkeys\n", "deploy keys") == ("# deploy keys", 2)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("- [ ] **do** it", "do it"),
        ("> > quoted `code`", "quoted code"),
        ("### Head [link](http://x)", "Head link"),
        ("a | b\n--|--\nc | d", "a b"),
        ("**Bold. Text** goes on", "Bold."),
        ("12. twelfth", "twelfth"),
        ("Vec<T> is <b>bold</b>", "Vec<T> is bold"),
    ],
)
def test_what_is_shown_is_plain(body: str, wanted: str) -> None:
    assert texts(body)[0][1] == wanted


def test_only_the_beginning_of_a_book_is_looked_at() -> None:
    assert best("x " * (MAX_BODY // 2) + "needle", "needle") is None


SLOW = ["a. B ", '."', ". ", ".", "> ", "- ", "* ", "*", "_ ", "|", "#", "# ", "`", "```\n", "1) "]
SLOW += ["- a\n", "word\n", "a\n---\n", "> a\n", "。", "。 ", "“", "    a\n", "- [ ] ", "\n", " "]


@pytest.mark.parametrize("unit", SLOW)
def test_finding_the_pieces_takes_linear_time(unit: str) -> None:
    body = ("a" + unit * MAX_BODY)[:MAX_BODY]
    found, cost = steps(lambda: texts(body))
    assert cost < 200 * len(body)
    assert all(len(piece) <= LONGEST for _, piece in found)


BITS = ["a", "word", ". ", "! ", "。", "\n", "\n\n", "  ", "- ", "> ", "# ", "```\n", "| ", "é"]


@given(st.lists(st.sampled_from(BITS), max_size=60).map("".join) | st.text(max_size=200))
def test_pieces_stand_where_they_say_in_order(body: str) -> None:
    numbers = []
    for number, piece in texts(body):
        assert 0 < len(piece) <= LONGEST
        numbers.append(number)
    assert numbers == sorted(numbers)
    assert all(1 <= number <= body.count("\n") + 1 for number in numbers)


@given(st.lists(st.sampled_from(["word", "other. ", "\n", "\n\n", "é "]), max_size=60).map("".join))
def test_prose_loses_no_term_and_stands_on_its_line(body: str) -> None:
    lines = body.split("\n")
    found = []
    for number, piece in texts(body):
        assert piece.split()[0] in lines[number - 1]
        found += ANALYZER.terms(piece)
    assert found == ANALYZER.terms(body)


def test_a_card_shows_the_sentence_and_its_line(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "a.md").write_text(f"---\ntitle: Git\n---\n{WRAPPED}", encoding="utf-8")
    with Recall([tmp_path / "n"], cache_dir=str(tmp_path / "cache")) as recall:
        (card,) = recall.search("undo a reset commit")
    assert card.summary == (
        "We wish we could undo what we've done, but the commit we've reset is gone."
    )
    assert (card.line, card.section) == (7, "Undoing things")
