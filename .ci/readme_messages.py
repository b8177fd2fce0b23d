"""Fails if a message that the README shows is not what the compiler says to the code above it.

Takes each `rust compile_fail` block together with the `text` block that follows it, and compiles it as the file that the message names.
"""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
crate = root / "target" / "readme-messages"
examples = re.findall(
    r"^```rust compile_fail\n(.*?)^```\n\n```text\n(.*?)^```$",
    (root / "README.md").read_text(),
    re.MULTILINE | re.DOTALL,
)
if not examples:
    sys.exit("the README shows no message")

(crate / "src").mkdir(parents=True, exist_ok=True)
(crate / "Cargo.toml").write_text(
    '[package]\nname = "readme-messages"\nversion = "0.0.0"\nedition = "2024"\n\n'
    '[dependencies]\nidem-rs = { path = "../.." }\n\n[workspace]\n'
)
(crate / "Cargo.lock").write_text((root / "Cargo.lock").read_text())
modules = []
for code, message in examples:
    name = re.search(r"--> src/(\w+)\.rs:", message).group(1)
    (crate / "src" / f"{name}.rs").write_text(code)
    modules.append(f"mod {name};\n")
(crate / "src" / "lib.rs").write_text("".join(modules))

check = ["cargo", "check", "--quiet", "--target-dir", str(root / "target")]
said = subprocess.run(check, cwd=crate, stderr=subprocess.PIPE, text=True, check=False).stderr
missing = [message for _, message in examples if message not in said]
for message in missing:
    print(f"the README shows\n\n{message}\nthe compiler says\n\n{said}", file=sys.stderr)
print(f"{len(examples)} messages compared")
sys.exit(1 if missing else 0)
