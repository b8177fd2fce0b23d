//! Names that upstream has changed are found here, before users meet a call that idem does not know any more.
//!
//! The sources are found through `cargo metadata`. Nothing of them is built.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "../../../../idem-macros/src/known/table.rs"]
#[allow(dead_code, reason = "the macro reads the rest")]
mod table;

/// The sources of a crate, as one text each.
struct Sources {
    crates: HashMap<(String, String), Vec<PathBuf>>,
    std: Option<PathBuf>,
}

impl Sources {
    fn find() -> Self {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--locked", "--format-version", "1", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let mut crates: HashMap<_, Vec<PathBuf>> = HashMap::new();
        for package in metadata["packages"].as_array().expect("a list") {
            let folder = Path::new(&text(&package["manifest_path"])).with_file_name("src");
            crates.entry((text(&package["name"]), text(&package["version"]))).or_default().push(folder);
        }
        Self { crates, std: library() }
    }

    /// The sources of `uuid`, or of `rand@0.8`; all of them in one text.
    fn of(&self, wanted: &str) -> Option<String> {
        if wanted == "std" {
            return self.std.as_deref().map(all);
        }
        let (name, version) = wanted.split_once('@').unwrap_or((wanted, ""));
        let fits =
            |own: &str| version.is_empty() || own == version || own.starts_with(&format!("{version}."));
        let mut folders =
            self.crates.iter().filter(|((own, release), _)| own == name && fits(release)).map(|(_, f)| f);
        let folders = folders.next().unwrap_or_else(|| panic!("`{wanted}` is not among the dependencies"));
        Some(folders.iter().map(|folder| all(folder)).collect())
    }
}

/// The standard library's sources, if the component `rust-src` is installed.
fn library() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library");
    library.is_dir().then_some(library)
}

fn all(folder: &Path) -> String {
    let mut text = String::new();
    let Ok(entries) = fs::read_dir(folder) else { return text };
    for entry in entries {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            text.push_str(&all(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("it is text"));
        }
    }
    text
}

/// Whether sources define what a table's entry names.
fn defines(sources: &str, pattern: &str) -> bool {
    let bare = pattern.trim_end_matches("()").trim_end_matches("(None)");
    if let Some(name) = bare.strip_suffix('!') {
        return has_word(sources, "macro_rules! ", name);
    }
    let path: Vec<&str> = match bare.split_once('.') {
        Some((_, method)) => vec![method],
        None => bare.split("::").collect(),
    };
    let (last, before) = path.split_last().expect("a path is not empty");
    let is_type = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
    let defines_type = |name: &str| {
        ["struct ", "enum ", "type ", "trait ", "union ", "as "]
            .iter()
            .any(|kind| has_word(sources, kind, name))
            // `pub struct $name` of a macro that is called with it.
            || has_word(sources, "!(", name)
            || has_word(sources, "!{", name)
    };
    if is_type(last) {
        return defines_type(last);
    }
    let owner = before.last().filter(|owner| is_type(owner));
    // Of a module it is a function, such as that of `nanoid::rngs`.
    if let ("default", Some(owner)) = (*last, owner) {
        return sources.contains(&format!("Default for {owner}"))
            || sources.contains("fn default(")
            || (defines_type(owner) && sources.contains("derive(Default"));
    }
    let function = ["fn ", "fn r#", "as ", "!(", "!{ ", "!{", "!(\n    "]
        .iter()
        .any(|kind| has_word(sources, kind, last));
    function && owner.is_none_or(|owner| defines_type(owner))
}

/// Whether `before` and `name` stand together, and the name ends there.
fn has_word(sources: &str, before: &str, name: &str) -> bool {
    let wanted = format!("{before}{name}");
    sources.match_indices(&wanted).any(|(at, found)| {
        let after = sources[at + found.len()..].chars().next();
        !after.is_some_and(|char| char.is_alphanumeric() || char == '_')
    })
}

#[test]
fn every_known_call_is_still_there_in_the_crates_that_it_comes_from() {
    let sources = Sources::find();
    let mut read: HashMap<&str, Option<String>> = HashMap::new();
    let mut gone = Vec::new();
    let mut checked = 0;
    for call in table::FAMILIES.iter().flat_map(|family| family.calls) {
        for name in call.from.split_whitespace() {
            let Some(text) = read.entry(name).or_insert_with(|| sources.of(name)) else { continue };
            checked += 1;
            if !defines(text, call.pattern) {
                gone.push(format!(
                    "`{}` of `{name}` in the table of known calls is no longer in its sources",
                    call.pattern
                ));
            }
        }
    }
    if sources.std.is_none() {
        eprintln!("the standard library was not looked at: `rustup component add rust-src`");
    }
    assert!(checked > 150, "only {checked} names were compared");
    assert!(gone.is_empty(), "{} of {checked}:\n{}", gone.len(), gone.join("\n"));
    eprintln!("{checked} names compared");
}

#[test]
fn a_name_that_is_not_there_is_missed() {
    let sources = Sources::find();
    let text = |name| sources.of(name).expect("it was fetched");
    assert!(defines(&text("uuid"), "new_v4"));
    assert!(!defines(&text("uuid"), "new_v44"));
    assert!(!defines(&text("uuid"), "new_v"));
    // Three majors of ulid had three names, and rand renamed its methods: what this test is for.
    assert!(!defines(&text("ulid@1"), "Ulid::generate_id"));
    assert!(!defines(&text("rand@0.10"), "thread_rng"));
    assert!(!defines(&text("getrandom@0.3"), "getrandom::getrandom"));
    assert!(defines(&text("getrandom@0.2"), "getrandom::getrandom"));
}

/// Entries say where they come from in a form that this test can read.
#[test]
fn no_entry_is_there_twice() {
    let mut seen = Vec::new();
    for call in table::FAMILIES.iter().flat_map(|family| family.calls) {
        assert!(!seen.contains(&call.pattern), "`{}` is there twice", call.pattern);
        seen.push(call.pattern);
    }
}
