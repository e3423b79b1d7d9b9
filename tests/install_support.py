"""Settings files as people have them, and what the prompt hook's installer must make of them."""

from __future__ import annotations

OTHER = '{"matcher": "", "hooks": [{"type": "command", "command": "~/bin/lint.sh"}]}'
HAND = "/home/me/recall/.venv/bin/recall-hook"

# Files into which the hook can be installed.
_GOOD: dict[str, str | bytes] = {
    "empty": "",
    "blank lines": "\n\n",
    "braces": "{}",
    "braces and newline": "{}\n",
    "braces with a space": "{ }\n",
    "braces over lines": "{\n}\n",
    "braces over blank lines": "{\n\n\n}\n",
    "a remark alone": "// nothing here yet\n",
    "remark in braces": "{\n  // add settings here\n}\n",
    "block remark in braces": "{ /* none */ }\n",
    "usual": '{\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash(ls:*)"]\n  }\n}\n',
    "no newline at the end": '{\n  "model": "opus"\n}',
    "four spaces": '{\n    "model": "opus",\n    "env": {\n        "A": "1"\n    }\n}\n',
    "tabs": '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n',
    "minified": '{"model":"opus","env":{"A":"1"},"list":[1,2]}',
    "one line with spaces": '{"model": "opus", "env": {"A": "1"}}\n',
    "CRLF": '{\r\n  "model": "opus",\r\n  "env": {}\r\n}\r\n',
    "CRLF without the last": '{\r\n\t"model": "opus"\r\n}',
    "old Mac": '{\r  "model": "opus"\r}\r',
    "mixed line ends": '{\r\n  "model": "opus",\n  "a": 1\r\n}\n',
    "BOM": b'\xef\xbb\xbf{\n  "model": "opus"\n}\n',
    "BOM and CRLF": b'\xef\xbb\xbf{\r\n  "model": "opus"\r\n}\r\n',
    "BOM alone": b"\xef\xbb\xbf",
    "remarks everywhere": (
        "// my settings\n/* of\n   many years */\n{\n  // the model\n"
        '  "model": /* which? */ "opus", // fast\n'
        '  "hooks": { // hooks\n    "Stop": [ /* none */ ]\n  } // end of hooks\n'
        "  // the end\n} // really\n"
    ),
    "trailing commas": (
        '{\n  "model": "opus",\n  "permissions": {\n    "allow": [\n      "a",\n      "b",\n'
        "    ],\n  },\n}\n"
    ),
    "trailing comma and remark": '{\n  "model": "opus", // mine\n  // more to come\n}\n',
    "remark after the last": '{\n  "model": "opus" // mine\n  // "old": true\n}\n',
    "remarks like code": '{\n  "a": "// no remark", /* "hooks": {} */\n  "b": "/* */"\n}\n',
    "other hooks of the event": (
        f'{{\n  "hooks": {{\n    "UserPromptSubmit": [\n      {OTHER}\n    ]\n  }}\n}}\n'
    ),
    "other hooks on one line": f'{{\n  "hooks": {{"UserPromptSubmit": [{OTHER}]}}\n}}\n',
    "other hooks of both events": (
        '{\n  "hooks": {\n    "SessionStart": [\n      {\n        "matcher": "startup",\n'
        '        "hooks": [\n          {\n            "type": "command",\n'
        '            "command": "date"\n          },\n        ],\n      },\n    ],\n'
        f'    "UserPromptSubmit": [{OTHER}, // first\n      {OTHER}\n    ],\n  }},\n}}\n'
    ),
    "other hooks of another event": (
        f'{{\n  "hooks": {{\n    "PreToolUse": [{OTHER}]\n  }},\n  "model": "opus"\n}}\n'
    ),
    "empty hooks": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
    "empty hooks over lines": '{\n  "hooks": {\n  }\n}\n',
    "empty event": '{\n  "hooks": {\n    "UserPromptSubmit": []\n  }\n}\n',
    "empty event with spaces": '{\n  "hooks": {\n    "UserPromptSubmit": [  ]\n  }\n}\n',
    "odd keys": (
        '{\n  "": {"a b": {"hooks": 1, "\\"": [{"}": "]"}]}},\n  "\\u0068ooks2": null,\n'
        '  "hooks\\n": "//",\n  "x": [[[[{"y": [{}]}]]]]\n}\n'
    ),
    "hooks spelled with an escape": '{\n  "\\u0068ooks": {"Stop": []}\n}\n',
    "unicode": '{\n  "größe": "日本語 🎉",\n "e\u0301": "\u2028",\n  "z": "\\ud83d"\n}\n',
    "deep indentation": '          {\n                    "a": {\n\n\n  "b": 1}\n          }\n',
    "hugging": '{ "model": "opus",\n  "env": { "A": "1" } }',
    "comma first": '{ "model": "opus"\n, "env": {}\n, "n": -1.50e+10\n}\n',
    "numbers": '{"n": 1.0, "m": 100000000000000000000000001, "e": 1E5, "z": -0}',
    "somebody's groups": '{"hooks": {"UserPromptSubmit": [7, null, {"hooks": "?"}, {}]}}',
    "a prompt with our command": (
        '{\n  "hooks": {\n    "UserPromptSubmit": [{"hooks": [\n'
        f'      {{"type": "prompt", "prompt": "x", "command": "{HAND}"}}\n    ]}}]\n  }}\n}}\n'
    ),
    "hooks switched off": (
        '{\n  "disableAllHooks": true,\n  "hooksConfig": {"enabled": false}, // for now\n}\n'
    ),
    "remarks in others' hooks": (
        '{\n  "hooks": {\n    "SessionStart": [\n      { // mine\n        "note": 1, /* why */\n'
        '        "hooks": [ // one\n          {"type": "command", /* slow */ "command": "date" }'
        " // two\n          , // three\n        ]\n      } /* four */,\n    ]\n  }\n}\n"
    ),
    "groups without hooks": (
        '{"hooks": {"UserPromptSubmit": [{"matcher": "x", "note": 1}, {"hooks": []}]}}\n'
    ),
    "a large list": '{\n  "allow": [\n' + '    "Bash(x)",\n' * 3000 + '    "y"\n  ]\n}\n',
}
GOOD = {name: each.encode() if isinstance(each, str) else each for name, each in _GOOD.items()}

# Files that must be left alone: what is said of each, and where.
BAD: dict[str, tuple[bytes, str, str]] = {
    "no JSON": (b"model = opus\n", "a value is expected here", ":1:1"),
    "cut off": (b'{\n  "model": "op', "a text that begins here does not end", ":2:12"),
    "no comma": (b'{\n  "a": 1\n  "b": 2\n}\n', "is expected between two elements", ":3:3"),
    "two commas": (b'{"a": 1,,}', "", ":1:"),
    "a comma alone": (b"{\n  ,\n}", "", ":2:3"),
    "open remark": (b'{\n  /* "a": 1\n}\n', "a comment that does not end", ":2:3"),
    "single quotes": (b"{'a': 1}", "", ":1:2"),
    "a key twice": (b'{"a": 1,\n "hooks": {}, "hooks": {}}', 'the key "hooks" is there', ":2:15"),
    "a key twice below": (b'{"a": {"b": 1, "b": 2}}', 'the key "b" is there twice', ":1:16"),
    "NaN": (b'{"a": NaN}', "NaN is no JSON", ":1:7"),
    "two values": (b"{}\n{}\n", "there is more behind the end", ":2:1"),
    "a list": (b"[]\n", "the settings are no object", ":1:1"),
    "a text": (b'"settings"', "the settings are no object", ":1:1"),
    "null": (b"null\n", "the settings are no object", ":1:1"),
    "hooks is a list": (b'{\n  "hooks": []\n}\n', '"hooks" is no object', ":2:3"),
    "hooks is null": (b'{"hooks": null}', '"hooks" is no object', ":1:2"),
    "the event is an object": (
        b'{"hooks": {"SessionStart": {}}}',
        '"SessionStart" is no list of hooks',
        ":1:12",
    ),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "it is not UTF-8", ""),
    "Latin-1": (b'{"a": "gr\xf6\xdfe"}', "it is not UTF-8", ""),
    "a NUL": (b'{"a": 1}\0', "there is more behind the end", ":1:9"),
    "a raw newline in a text": (b'{"a": "x\ny"}', "a control character stands in a text", ":1:9"),
    "merge conflict": (b'{\n<<<<<<< HEAD\n  "a": 1\n}\n', "", ":2:1"),
    "too deep": (b"[" * 5000 + b"]" * 5000, "it is nested too deeply", ":1:"),
    "too large": (b'{"a": "' + b"x" * (1 << 20) + b'"}', "larger than", ""),
}
