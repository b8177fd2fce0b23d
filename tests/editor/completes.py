#!/usr/bin/env python3
"""What an editor shows in handlers that are half typed, asked of rust-analyzer over its protocol.

    python3 tests/editor/completes.py [--rust-analyzer PATH] [--sysroot-src PATH]

Types into tests/editor/sample, in the editor's memory alone, and asks for types, completions and diagnostics. Each case says
what must be among them. Needs a rust-analyzer, which is no part of the toolchain's usual components, and the sources of the
standard library (`rustup component add rust-analyzer rust-src`); without them it says so and fails.
"""
import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

SAMPLE = Path(__file__).resolve().parent / "sample"
SOURCE = SAMPLE / "src/lib.rs"

ATTRIBUTE = '#[idempotent(key = "msg:<message.id>")]'
BODY = "    let receipt = api.charge(message.amount_cents, key).await?;\n    Ok(receipt)\n"

# Name, what is replaced and by what (`|` is the cursor), what is asked there, what must be in the answer.
# In an option that ends in a dot (`store = api.`) nothing is completed: the attribute does not parse, and says so.
# Nor in `tx` and `payload(…)`, which name an argument: the macro says that half a name is none.
CASES = [
    ("the type of a variable in an annotated body", BODY, BODY.replace("let receipt", "let rec|eipt"), "hover", ["Receipt"]),
    ("the type of an argument that idem supplies", BODY, BODY.replace("key).", "ke|y)."), "hover", ["Key"]),
    ("a call from elsewhere keeps its signature", "let answered", "let ans|wered", "hover", ["Receipt"]),
    ("the signature is the expansion's: without idem's argument", "= charge(message", "= cha|rge(message", "hover", ["charge(message: Payment, api: &Api)"]),
    ("a handler that is right has no diagnostics", BODY, BODY + "|", "diagnostic", []),
    ("a wrong key is told, and nothing else", ATTRIBUTE, '#[idempotent(key = "msg:<massage.id>")]|', "diagnostic", ["key_unknown_argument"]),
    ("two mistakes are both told", ATTRIBUTE, '#[idempotent(key = "msg:<massage.id>", kep = "45d")]|', "diagnostic", ["key_unknown_argument", "option_unknown"]),
    ("names in an option of the attribute", ATTRIBUTE, '#[idempotent(key = "msg:<message.id>", store = ap|)]', "completion", ["api", "message"]),
    ("methods in an option of the attribute", ATTRIBUTE, '#[idempotent(key = "msg:<message.id>", store = api.ch|)]', "completion", ["charge"]),
    ("names in the option that the expansion has last", ATTRIBUTE, '#[idempotent(key = "msg:<message.id>", final_error = ca|)]', "completion", ["calls_it"]),
    ("what a call in an option of the attribute is", ATTRIBUTE, '#[idempotent(key = "msg:<message.id>", store = api.ch|arge())]', "hover", ["pub async fn charge"]),
    ("fields of the message", BODY, "    message.|\n", "completion", ["amount_cents", "id"]),
    ("methods of another argument", BODY, "    let receipt = api.ch|\n", "completion", ["charge"]),
    ("fields of what a call gives", BODY, "    let receipt = api.charge(1, key).await?;\n    receipt.|\n", "completion", ["charged_cents"]),
    ("a body that does not parse", BODY, "    let x = (;\n    message.|\n", "completion", ["amount_cents"]),
    ("in an `if` that is not closed by an expression", BODY, "    if message.|  {\n    }\n    Ok(Receipt { charged_cents: 1 })\n", "completion", ["amount_cents"]),
]
# Attributes as they are being typed: the body below them keeps its types.
for written in [
    "#[idempotent]",
    "#[idempotent()]",
    "#[idempotent(k)]",
    "#[idempotent(key)]",
    "#[idempotent(key = )]",
    '#[idempotent(key = "")]',
    '#[idempotent(key = "msg")]',
    '#[idempotent(key = "msg:<")]',
    '#[idempotent(key = "msg:<mess>")]',
    '#[idempotent(key = "msg:<message.>")]',
    '#[idempotent(key = "msg:<message.id>", )]',
    '#[idempotent(key = "msg:<message.id>", st)]',
    '#[idempotent(key = "msg:<message.id>", store = )]',
    '#[idempotent(key = "msg:<message.id>", keep = "4")]',
    '#[idempotent(key = "msg:<message.delivery_tag>")]',
    '#[idempotent(key = "msg:<Uuid::new_v4()>")]',
]:
    CASES.append((f"below `{written}`", (ATTRIBUTE, BODY), (written, "    message.|\n"), "completion", ["amount_cents"]))
    CASES.append((f"a call of it, with `{written}`", (ATTRIBUTE, "let answered"), (written, "let ans|wered"), "hover", ["Receipt"]))


class Server:
    """One rust-analyzer over its standard input and output."""

    def __init__(self, command, sysroot_src):
        self.process = subprocess.Popen(command, cwd=SAMPLE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.messages, self.next_id, self.quiet, self.told = queue.Queue(), 0, False, []
        threading.Thread(target=self.read, daemon=True).start()
        options = {"checkOnSave": False, "cachePriming": {"enable": False}, "cargo": {"targetDir": True}}
        if sysroot_src:
            options["cargo"]["sysrootSrc"] = sysroot_src
        self.request("initialize", {
            "processId": os.getpid(), "rootUri": SAMPLE.as_uri(), "initializationOptions": options,
            "workspaceFolders": [{"uri": SAMPLE.as_uri(), "name": "sample"}],
            "capabilities": {
                "experimental": {"serverStatusNotification": True},
                "textDocument": {"hover": {"contentFormat": ["plaintext"]}, "diagnostic": {}},
                "workspace": {"configuration": False},
            },
        })
        self.notify("initialized", {})

    def read(self):
        out = self.process.stdout
        while True:
            length = 0
            while (line := out.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return self.messages.put(None)
            self.messages.put(json.loads(out.read(length)))

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def take(self, deadline):
        """Takes one message in; returns it if it answers a request."""
        message = self.messages.get(timeout=max(0.01, deadline - time.monotonic()))
        if message is None:
            sys.exit("rust-analyzer ended by itself")
        if "method" in message:
            if message["method"] == "experimental/serverStatus":
                self.quiet = message["params"].get("quiescent", False)
                self.told.append(message["params"])
            if "id" in message:
                self.send({"id": message["id"], "result": None})
            return None
        return message

    def request(self, method, params, seconds=300):
        deadline = time.monotonic() + seconds
        while True:
            self.next_id += 1
            self.send({"id": self.next_id, "method": method, "params": params})
            while (answer := self.take(deadline)) is None or answer.get("id") != self.next_id:
                pass
            error = answer.get("error")
            # The file has changed since, or the server was not ready: ask again.
            if error and error["code"] in (-32801, -32800, -32802):
                continue
            if error:
                raise RuntimeError(f"{method}: {error}")
            return answer["result"]

    def until_quiet(self, seconds):
        deadline = time.monotonic() + seconds
        while not self.quiet:
            self.take(deadline)


def texts(answer):
    """What an answer shows, as one list of lines."""
    if answer is None:
        return []
    if "kind" in answer:
        return [f"{item['range']['start']['line'] + 1}: {item['message']}" for item in answer["items"]]
    if "contents" in answer:
        return [answer["contents"]["value"]]
    return [item.get("filterText") or item["label"].split("(")[0] for item in answer.get("items", answer if isinstance(answer, list) else [])]


def answers(method, wanted, shown):
    """Whether all that is wanted is shown; of diagnostics, that and no more."""
    if method == "completion":
        return set(wanted) <= set(shown)
    return all(any(word in line for line in shown) for word in wanted) and (method != "diagnostic" or len(shown) == len(wanted))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rust-analyzer", default=shutil.which("rust-analyzer"))
    options.add_argument("--sysroot-src")
    options.add_argument("--only", default="", help="only cases with this in their name")
    options.add_argument("--show", action="store_true", help="what the answers are")
    options = options.parse_args()
    if not options.rust_analyzer:
        sys.exit("no rust-analyzer: `rustup component add rust-analyzer`, or --rust-analyzer PATH")
    source = SOURCE.read_text()
    server = Server([options.rust_analyzer], options.sysroot_src)
    failed, asked = [], 0
    try:
        uri = SOURCE.as_uri()
        document = {"uri": uri, "languageId": "rust", "version": 1, "text": source}
        server.notify("textDocument/didOpen", {"textDocument": document})
        server.until_quiet(600)
        for version, (name, old, new, method, wanted) in enumerate(CASES, 2):
            if options.only not in name:
                continue
            text = source
            for one, other in zip(old, new) if isinstance(old, tuple) else [(old, new)]:
                if text.count(one) != 1:
                    sys.exit(f"{name}: {one!r} stands {text.count(one)} times in the sample")
                text = text.replace(one, other)
            before, after = text.split("|")
            change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": before + after}]}
            server.notify("textDocument/didChange", change)
            position = {"line": before.count("\n"), "character": len(before.rsplit("\n", 1)[-1])}
            params = {"textDocument": {"uri": uri}, "position": position}
            shown = texts(server.request(f"textDocument/{method}", params))
            asked += 1
            wrong = not answers(method, wanted, shown)
            print(f"{'FAILED' if wrong else 'ok':6} {name}" + (f": not {wanted}, but {shown[:12]}" if wrong else ""))
            if options.show:
                print("      ", shown[:12])
            failed += [name] * wrong
    finally:
        server.process.kill()
        server.process.wait()
    print(f"{asked - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
