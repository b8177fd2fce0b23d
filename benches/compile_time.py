#!/usr/bin/env python3
"""How long `cargo check` takes after an edit, for 200 async handlers: plain, by hand, and under attributes.

    python3 benches/compile_time.py [--handlers 200] [--rounds 7] [--lines 1]

Each variant is a crate of its own in target/compile_time. A round edits every one of them and checks it, one after
another, so that what else the machine does hits all alike. Prints the median of the processor seconds (user + system) and
the ratio to plain handlers. Needs the crate registry at the first run.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEAD = """
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Message { pub id: String, pub amount: u64 }
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Receipt { pub id: String, pub amount: u64 }
#[derive(Debug, Clone)]
pub struct Failure(pub String);
pub struct Api;
impl Api {
    pub async fn charge(&self, amount: u64, key: &str) -> Result<Receipt, Failure> {
        Ok(Receipt { id: key.to_owned(), amount })
    }
}
"""

BY_HAND = """
type Seen = std::sync::Mutex<std::collections::HashMap<String, Vec<u8>>>;
static SEEN: std::sync::LazyLock<Seen> = std::sync::LazyLock::new(Default::default);
fn failure(error: serde_json::Error) -> Failure { Failure(error.to_string()) }
"""


# Ten lines of what handlers do between their calls.
STEP = """    let fee_{n} = match message.amount % 7 {{
        0 => 0,
        1 | 2 => 15,
        rest => rest * {n},
    }};
    let label_{n} = format!("{{}}:{n}:{{fee_{n}}}", message.id);
    let parts_{n}: Vec<&str> = label_{n}.split(':').filter(|part| !part.is_empty()).collect();
    if parts_{n}.len() > 2 {{
        total = total.saturating_add(fee_{n}).min(1_000_000);
    }}
"""


def body(lines):
    """A handler's body of about this many lines: of calls alone, or from 20 on of steps, with a key that goes to the last call."""
    if lines >= 20:
        steps = "".join(STEP.format(n=n) for n in range((lines + 2) // 10))
        first = "    let mut total = api.charge(message.amount, &message.id).await?.amount;\n"
        last = '    let idempotency_key = format!("{}:{total}", message.id);\n    api.charge(total, &idempotency_key).await\n'
        return first + steps + last
    steps = "".join(
        f"    let total = total + api.charge(message.amount + {n}, &message.id).await?.amount;\n" for n in range(lines - 1)
    )
    return f"    let total = 0u64;\n{steps}    api.charge(message.amount + total, &message.id).await\n"


def plain(n, lines):
    return f"pub async fn charge_{n}(message: Message, api: &Api) -> Result<Receipt, Failure> {{\n{body(lines)}}}\n"


def by_hand(n, lines):
    return f"""pub async fn charge_{n}(message: Message, api: &Api) -> Result<Receipt, Failure> {{
    let key = format!("charge_{n}:{{}}", message.id);
    if let Some(seen) = SEEN.lock().unwrap().get(&key) {{
        return serde_json::from_slice(seen).map_err(failure);
    }}
    let result: Result<Receipt, Failure> = async {{\n{body(lines)} }}.await;
    if let Ok(receipt) = &result {{
        SEEN.lock().unwrap().insert(key, serde_json::to_vec(receipt).map_err(failure)?);
    }}
    result
}}
"""


def attribute(text):
    return lambda n, lines: text.format(n=n) + "\n" + plain(n, lines)


SERDE = 'serde = { version = "1", features = ["derive"] }\n'
VARIANTS = {
    "plain": (SERDE, HEAD, plain),
    "by hand": (SERDE + 'serde_json = "1"\n', HEAD + BY_HAND, by_hand),
    "#[tracing::instrument]": (
        SERDE + 'tracing = "0.1"\n', HEAD, attribute("#[tracing::instrument(skip_all, fields(id = %message.id))]"),
    ),
    "#[cached]": (
        SERDE + 'cached = { version = "4", features = ["async"] }\n', HEAD,
        attribute('#[cached::proc_macro::cached(key = "String", convert = r#"{{ message.id.clone() }}"#)]'),
    ),
    "#[idempotent]": (
        SERDE + f'idem-rs = {{ path = "{ROOT}" }}\n',
        HEAD + "impl From<idem::Error> for Failure { fn from(e: idem::Error) -> Self { Self(e.to_string()) } }\n",
        attribute('#[idem::idempotent(key = "msg:<message.id>")]'),
    ),
    # As under `cargo test` of a team that locks its keys.
    "#[idempotent], testing": (
        SERDE + f'idem-rs = {{ path = "{ROOT}", features = ["testing"] }}\n',
        HEAD + "impl From<idem::Error> for Failure { fn from(e: idem::Error) -> Self { Self(e.to_string()) } }\n",
        attribute('#[idem::idempotent(key = "msg:<message.id>")]'),
    ),
}


def write(folder, dependencies, head, handler, handlers, lines):
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(
        '[workspace]\n[package]\nname = "handlers"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\n' + dependencies
    )
    (folder / "src/lib.rs").write_text(head + "".join(handler(n, lines) for n in range(handlers)))


def check(folder):
    """Checks the crate; returns the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["cargo", "check", "--quiet"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target/compile_time/target")},
    )
    if done.returncode:
        sys.exit(f"{folder.name} does not compile:\n{done.stderr[:3000]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--handlers", type=int, default=200)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--lines", type=int, default=1)
    options = options.parse_args()
    folders, times = {}, {}
    for name, (dependencies, head, handler) in VARIANTS.items():
        slug = "".join(c for c in name if c.isalpha())
        folders[name] = ROOT / "target/compile_time" / slug
        write(folders[name], dependencies, head, handler, options.handlers, options.lines)
        check(folders[name])
        times[name] = []
    for round in range(options.rounds):
        for name, folder in folders.items():
            # A line above everything: every handler has moved, as after an edit near the head of a file.
            source = folder / "src/lib.rs"
            source.write_text(f"// edit {round}\n" + source.read_text())
            times[name].append(check(folder))
    base = statistics.median(times["plain"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:24} {median:6.2f} s   {median / base:4.2f}x of plain   (from {min(seconds):.2f} to {max(seconds):.2f})")


if __name__ == "__main__":
    main()
