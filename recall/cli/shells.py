"""The scripts by which shells ask what to offer, and the answers in the form that each takes.

click's scripts are not used: zsh's drops an empty field and with it the sense of all that follow,
and puts what it offers in the place of ``--option=`` or of letters in another case; fish's cuts
descriptions at a comma and complains when the program is gone. What click knows of commands and
options is used as it is.

A script says nothing, whatever is wrong. It sends the words up to the one that is being typed,
one a line (line ends in them as blanks), so that they are the program's as they were the shell's.
"""

from __future__ import annotations

import os

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

_BASH = r"""_recall_completion() {
    local IFS=$'\n' line response
    COMPREPLY=()
    response=$(env COMP_WORDS="${COMP_WORDS[*]//$'\n'/ }" COMP_CWORD="$COMP_CWORD" \
        COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_TEXT="$2" \
        _RECALL_COMPLETE=bash_complete recall 2>/dev/null)
    for line in $response; do
        case $line in
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default ;;
            plain,*) COMPREPLY+=("${line#plain,}") ;;
        esac
    done
    return 0
}

complete -o nosort -F _recall_completion recall
"""

_ZSH = r"""#compdef recall

_recall_completion() {
    (( $+commands[recall] )) || return 1
    local -a response plain described
    local type key descr dirs files shown=1
    response=("${(@f)$(env COMP_WORDS="${(pj:\n:)${(@)words//$'\n'/ }}" \
        COMP_CWORD=$((CURRENT-1)) _RECALL_COMPLETE=zsh_complete recall 2>/dev/null)}")
    for type key descr in "${response[@]}"; do
        case $type in
            dir) dirs=1 ;;
            file) files=1 ;;
            plain)
                if [[ $descr == _ ]]; then
                    plain+=("$key")
                else
                    described+=("${key//:/\\:}:$descr")
                fi ;;
        esac
    done
    compset -P 1 '--*='
    if (( $#described )); then
        _describe -V recall described && shown=0
    fi
    if (( $#plain )); then
        compadd -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -V recall -a plain && shown=0
    fi
    if [[ -n $dirs ]]; then
        _path_files -/ && shown=0
    fi
    if [[ -n $files ]]; then
        _path_files -f && shown=0
    fi
    return shown
}

if (( $+functions[compdef] )); then
    compdef _recall_completion recall
    if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
        _recall_completion "$@"
    fi
else
    print -ru2 'recall: nothing is completed: put "autoload -Uz compinit && compinit" before this'
fi
"""

_FISH = r"""function _recall_completion
    command -q recall; or return
    set -l word (commandline -ct | string join ' ')
    set -l option (string match -r -- '^--[^=]*=' "$word")
    set -l value (string replace -r -- '^--[^=]*=' '' "$word")
    set -l response (env COMP_WORDS=(commandline -opc | string collect) "COMP_CWORD=$word" \
        _RECALL_COMPLETE=fish_complete recall 2>/dev/null)
    for line in $response
        set -l parts (string split -m 1 , -- $line)
        switch "$parts[1]"
            case dir
                for path in (__fish_complete_directories "$value")
                    printf '%s\n' "$option$path"
                end
            case file
                for path in (__fish_complete_path "$value")
                    printf '%s\n' "$option$path"
                end
            case plain
                printf '%s\n' "$parts[2]"
        end
    end
end

complete --no-files --command recall --arguments "(_recall_completion)"
"""


def _unquoted(word: str) -> str:
    """Return what a shell would make of a word, be a quote of it still open."""
    return " ".join(split_arg_string(word))


class _AsItIs(ShellComplete):
    """A script into which nothing is to be put: click would read a meaning into its ``%``."""

    def source(self) -> str:
        """Return the script."""
        return self.source_template


class _Bash(_AsItIs, BashComplete):
    """bash's words end at each of ``COMP_WORDBREAKS``, and it inserts what it is given as it is.

    What stands together in the line is one word here. bash replaces the last piece of it alone,
    ``COMP_TEXT``, so what stands before that piece is not a part of what it is told.
    """

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        words, word = self._words()
        return [_unquoted(each) for each in words[1:]], _unquoted(word)

    def complete(self) -> str:
        args, typed = self.get_completion_args()
        items = self.get_completions(args, typed)
        option = _option(typed)
        names = [option + item.value for item in items if item.type == "plain"]
        if not self._is_quoted():
            # Before this piece of the word everything has to be as it is.
            _, word = self._words()
            head = word.removesuffix(os.environ.get("COMP_TEXT", word))
            escaped = [name.replace(" ", "\\ ") for name in names]
            told = [name.removeprefix(head) for name in escaped if name.startswith(head)]
            typed = word.removeprefix(head)
        else:
            told = [name.removeprefix(option) for name in names]
            typed = typed.removeprefix(option)
        common = os.path.commonprefix(told)  # noqa: RUF071 - as bash does it, by letters
        if common and len(common) < len(typed):
            # bash would take away what is typed beyond it: in another case there is more. With
            # nothing in common it lists them, and leaves the word alone.
            told.append(" ")
        others = [f"{item.type}," for item in items if item.type != "plain"]
        return "\n".join([*(f"plain,{each}" for each in told), *others])

    def _is_quoted(self) -> bool:
        words = os.environ["COMP_WORDS"].split("\n")
        at = int(os.environ["COMP_CWORD"])
        return at < len(words) and words[at].startswith(('"', "'"))

    def _words(self) -> tuple[list[str], str]:
        """Return the words before the one that is typed, and that up to the cursor, unread."""
        at = int(os.environ["COMP_CWORD"])
        pieces = os.environ["COMP_WORDS"].split("\n")[: at + 1]
        pieces += [""] * (at + 1 - len(pieces))
        line = os.environ.get("COMP_LINE", " ".join(pieces)).replace("\n", " ")
        words: list[str] = []
        end = 0
        for piece in pieces[:-1]:
            begin = _behind_blanks(line, end)
            if not line.startswith(piece, begin):
                return pieces[:-1], pieces[-1]
            if words and begin == end:
                words[-1] += piece
            else:
                words.append(piece)
            end = begin + len(piece)
        begin = _behind_blanks(line, end)
        last = line[begin:]
        return (words[:-1], words[-1] + last) if begin == end and words else (words, last)


class _Zsh(_AsItIs, ZshComplete):
    """zsh keeps ``--option=`` itself and sees to quotes."""

    source_template = _ZSH

    def get_completion_args(self) -> tuple[list[str], str]:
        words = os.environ["COMP_WORDS"].split("\n")
        at = int(os.environ["COMP_CWORD"])
        word = words[at] if at < len(words) else ""
        return [_unquoted(each) for each in words[1:at]], _unquoted(word)

    def format_completion(self, item: CompletionItem[str]) -> str:
        # Without the value of what is no name: it is not used.
        value = item.value if item.type == "plain" else ""
        return f"{item.type}\n{value}\n{item.help or '_'}"


class _Fish(_AsItIs, FishComplete):
    """fish compares whole words, ``--option=`` included, and has taken the quotes off earlier ones.

    ``COMP_CWORD`` is the word that is typed.
    """

    source_template = _FISH

    def get_completion_args(self) -> tuple[list[str], str]:
        return os.environ["COMP_WORDS"].split("\n")[1:], _unquoted(os.environ["COMP_CWORD"])

    def format_completion(self, item: CompletionItem[str]) -> str:
        if item.type != "plain":
            return f"{item.type},"
        value = _option(_unquoted(os.environ["COMP_CWORD"])) + item.value
        return super().format_completion(CompletionItem(value, help=item.help))


def _option(word: str) -> str:
    """Return the beginning of a word that is ``--option=``, "" where there is none."""
    name, equals, _ = word.partition("=")
    return name + equals if equals and name.startswith("--") else ""


def _behind_blanks(line: str, at: int) -> int:
    """Return the first place from ``at`` on that has no blank."""
    while at < len(line) and line[at].isspace():
        at += 1
    return at


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
