"""What each host sends to the prompt hook and what it accepts; see ``spec/hook.md``.

Pure, from bytes to an ``Event`` and from a block to bytes. All that is particular to one host is
here: nothing else in the package asks which host it is.
"""

from __future__ import annotations

import os

from recall import quickjson

CLAUDE = "claude"
CODEX = "codex"
GEMINI = "gemini"
TEXT = "text"
HOSTS = (CLAUDE, CODEX, GEMINI, TEXT)

SESSION_START = "SessionStart"
# The events that carry a prompt, and what they are called when only the host is known.
_PROMPTS = {CLAUDE: "UserPromptSubmit", CODEX: "UserPromptSubmit", GEMINI: "BeforeAgent"}
_EVENTS = {*_PROMPTS.values(), SESSION_START}
_SOURCES = ("startup", "resume", "clear", "compact")
_LONGEST_ID = 512  # characters; a longer id is not one that a host makes
_SHOWN = 40  # characters of what was sent that a message may quote

# Claude Code shows 10,000 characters whole and of more only the first 2 KB; Codex about 2,500
# tokens. What lies between is room for the text that a host may put around the block.
CLAUDE_CHARACTERS = 9_000
CODEX_TOKENS = 2_000
_BEYOND_BMP = b"\xf0\xf1\xf2\xf3\xf4"  # the first byte of such a character in UTF-8
_CONTEXT = "<hook_context>"  # of Gemini CLI
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LETTERS = b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Cap:
    """The most that a host takes: ``characters``, as UTF-16 counts them, and estimated ``tokens``.

    None of either: as many as there are.
    """

    __slots__ = ("characters", "tokens")

    def __init__(self, characters: int | None = None, tokens: int | None = None) -> None:
        self.characters = characters
        self.tokens = tokens

    def fits(self, text: str) -> bool:
        """Return whether ``text`` stays within the cap."""
        if self.characters is not None and utf16_length(text) > self.characters:
            return False
        return self.tokens is None or estimated_tokens(text) <= self.tokens


def cap(host: str | None, *, characters: int | None = None, tokens: int | None = None) -> Cap:
    """Return the cap of a host, with what is given in the place of its own."""
    if characters is None and host != CODEX:
        characters = CLAUDE_CHARACTERS
    if tokens is None and host == CODEX:
        tokens = CODEX_TOKENS
    return Cap(characters, tokens)


def utf16_length(text: str) -> int:
    """Return the length of ``text`` as JavaScript counts it: a character beyond the BMP is two."""
    if text.isascii():
        return len(text)
    data = text.encode("utf-8", "surrogatepass")  # the codec that needs no import
    return len(text) + len(data) - len(data.translate(None, _BEYOND_BMP))


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a model makes of ``text``, rather too many than too few.

    A third of the ASCII letters and spaces, two thirds of all other ASCII characters and of the
    bytes of all others, and every byte of what is in no vocabulary (rare Han, old scripts).
    """
    data = text.encode("ascii", "ignore")
    marks = len(data.translate(None, _LETTERS))
    thirds = len(data) + marks
    if len(data) < len(text):
        rare = "".join(char * text.count(char) for char in set(text) if _is_rare(char))
        thirds += 2 * (_utf8_length(text) - len(data)) + _utf8_length(rare)
    return -(-thirds // 3)


def _is_rare(char: str) -> bool:
    return (
        "\u3400" <= char < "\u4e00"  # Han, extension A
        or "\U00010000" <= char < "\U0001f000"
        or char >= "\U0001fb00"
    )


def _utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class Event:
    """What a host sent.

    ``host`` is one of ``HOSTS``, None if it could not be recognised; ``name`` the event's own
    name; ``session`` the conversation; ``cwd`` an absolute path, not looked at; ``prompt`` the
    text, "" at the start of a session; ``source`` why a session starts; ``agent`` the id of the
    sub-agent that was asked. ``problem`` says why the event can't be used, None if it can.
    """

    __slots__ = ("agent", "cwd", "host", "name", "problem", "prompt", "session", "source")

    def __init__(
        self,
        host: str | None,
        name: str = "",
        *,
        session: str | None = None,
        cwd: str | None = None,
        prompt: str = "",
        source: str | None = None,
        agent: str | None = None,
        problem: str | None = None,
    ) -> None:
        self.host = host
        self.name = name
        self.session = session
        self.cwd = cwd
        self.prompt = prompt
        self.source = source
        self.agent = agent
        self.problem = problem

    @property
    def has_prompt(self) -> bool:
        """Return whether this kind of event asks something."""
        return self.name != SESSION_START


def parse(data: bytes, host: str | None = None) -> Event:
    """Return the event in what a host wrote to standard input, whatever that is.

    ``host`` overrides the recognition. Never raises: what can't be used says so in ``problem``.
    """
    if host is not None and host not in HOSTS:
        return Event(None, problem=f"there is no host {host[:_SHOWN]!r}; {', '.join(HOSTS)} are")
    text = _decoded(data)
    if host == TEXT:
        return Event(TEXT, "prompt", prompt=_clean(text.removesuffix("\n").removesuffix("\r")))
    fields = _loaded(text)
    if isinstance(fields, str):
        return Event(host, problem=fields)
    return _event(fields, host)


def _loaded(text: str) -> dict[str, object] | str:
    """Return the object that ``text`` holds, or why there is none."""
    if not text.strip():
        return "the input is empty"
    try:
        fields = quickjson.loads(text)
    except ValueError as error:
        from json import JSONDecodeError  # loaded by now, if this is one

        if not isinstance(error, JSONDecodeError):
            return "the input holds a number that is too long"  # Python refuses thousands of digits
        return f"the input is not JSON (line {error.lineno}, column {error.colno})"
    except RecursionError:
        return "the input is nested too deeply"
    return fields if isinstance(fields, dict) else _not("the input", fields, "an object")


def _event(fields: dict[str, object], host: str | None) -> Event:
    name = fields.get("hook_event_name")
    if name is None and host is not None and "prompt" in fields:
        name = _PROMPTS[host]  # a wrapper that passes on only what matters
    host = host or _recognised(name, fields)
    if not isinstance(name, str):
        return Event(host, problem=_not("hook_event_name", name, "text"))
    event = Event(
        host,
        _clean(name),
        session=_identifier(fields.get("session_id")),
        cwd=_absolute(fields.get("cwd")),
        agent=_identifier(fields.get("agent_id")),
    )
    if name not in _EVENTS:
        shown = event.name[:_SHOWN]
        event.problem = f"the event {shown!r} is not one that takes notes"
    elif name == SESSION_START:
        source = fields.get("source")
        event.source = source if isinstance(source, str) and source in _SOURCES else None
    else:
        prompt = fields.get("prompt")
        if isinstance(prompt, str):
            event.prompt = _asked(_clean(prompt)) if host == GEMINI else _clean(prompt)
        else:
            event.problem = _not("prompt", prompt, "text")
    return event


def _asked(prompt: str) -> str:
    """Return what the person typed, without what other hooks said at the start of the session.

    Gemini CLI without a terminal puts that before the first prompt. No tag can stand within it.
    """
    if not prompt.startswith(_CONTEXT):
        return prompt
    _, end, rest = prompt.partition(f"</{_CONTEXT[1:]}\n\n")
    return rest if end else prompt


def _recognised(name: object, fields: dict[str, object]) -> str | None:
    """Return the host that an event comes from; see the table in ``spec/hook.md``."""
    if name == _PROMPTS[GEMINI] or ("timestamp" in fields and "turn_id" not in fields):
        return GEMINI
    if not isinstance(name, str) or name not in _EVENTS:
        return None
    path = fields.get("transcript_path")
    transcript = path.replace("\\", "/") if isinstance(path, str) else ""
    if "turn_id" in fields or "/.codex/" in transcript:
        return CODEX
    ours = "prompt_id" in fields or "/.claude/" in transcript
    return CODEX if "model" in fields and not ours else CLAUDE


def render(host: str | None, name: str, block: str) -> bytes:
    """Return what to print so that ``host`` adds ``block`` to the event ``name``.

    Without a block that is what the host takes for silence; so it is for a host not recognised.
    """
    if host is None or not block:
        return b"{}\n" if host == GEMINI else b""
    if host == TEXT:
        return block.encode("utf-8", "replace")
    event, text = quickjson.quoted(name), quickjson.quoted(block)
    return (
        f'{{"hookSpecificOutput": {{"hookEventName": {event}, "additionalContext": {text}}}}}\n'
    ).encode("ascii")


def greet(host: str | None, name: str, words: str, line: str) -> bytes:
    """Return what to print so that a session begins with ``line``, for the model.

    Gemini CLI shows the person ``words`` in its place: of a conversation without a terminal it
    would forget the first prompt with the line that it puts before that.
    """
    if host == GEMINI:
        return f'{{"systemMessage": {quickjson.quoted(words)}}}\n'.encode("ascii")
    return render(host, name, line)


def _decoded(data: bytes) -> str:
    # Hosts write UTF-8; some Windows shells put a byte order mark before it or write UTF-16.
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "replace")


def _clean(text: str) -> str:
    """Return text that can be encoded: a lone surrogate, which JSON can carry, is replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _identifier(value: object) -> str | None:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_ID:
        return None
    return _clean(value)


def _absolute(value: object) -> str | None:
    """Return a path that the operating system can be asked about, None if it can't."""
    if not isinstance(value, str) or not os.path.isabs(value) or "\0" in value:
        return None
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return None
    return value


def _not(what: str, value: object, wanted: str) -> str:
    if value is None:
        return f"{what} is missing"
    kinds = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return f"{what} is {kinds.get(type(value), 'an object')}, not {wanted}"
