//! A rule has one name in four places: the list of rules, a UI test, a page, and the last line of its message.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Folders of `tests/ui` that are not about one rule.
const NO_AREA: [&str; 3] = ["compiler", "several", "shapes"];

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn names_in(folder: impl AsRef<Path>) -> Vec<String> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The names in the list of rules: `CONSTANT = "name", "why";`.
fn rules() -> BTreeSet<String> {
    let source = read("idem-macros/src/rules.rs");
    let list = source.split_once("rules! {\n").unwrap().1.split_once("\n}").unwrap().0;
    let rules: BTreeSet<String> = list
        .lines()
        .filter_map(|line| line.split_once(" = \"")?.1.split_once("\", \""))
        .map(|(name, _)| name.to_owned())
        .collect();
    assert!(rules.len() > 30, "the list of rules is no longer read right: {rules:?}");
    rules
}

/// The UI cases of each area that are a rule's own, or a folder of its variants: `key_prefix` for `key/prefix.rs`, `key/prefix/`.
fn cases(extension: &str) -> BTreeSet<String> {
    let areas = names_in("tests/ui").into_iter().filter(|area| !NO_AREA.contains(&area.as_str()));
    let rule = |area: &str, name: &str| Some(format!("{area}_{}", name.strip_suffix(extension)?));
    areas
        .flat_map(|area| {
            names_in(format!("tests/ui/{area}")).into_iter().filter_map(move |name| rule(&area, &name))
        })
        .collect()
}

/// The rules that a `.stderr` names.
fn named_in(message: &str) -> BTreeSet<String> {
    let names = message.lines().filter_map(|line| line.trim().strip_prefix("rule: idem::errors::"));
    names.map(str::to_owned).collect()
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    assert_eq!(cases(".rs"), rules());
    assert_eq!(cases(".stderr"), rules());
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let prose: BTreeSet<String> = names_in("src/errors")
        .iter()
        .map(|name| name.strip_suffix(".md").expect("pages are Markdown").to_owned())
        .collect();
    assert_eq!(prose, rules());

    let source = read("src/errors.rs");
    let list = source.split_once("\npages! {\n").unwrap().1;
    let entries: BTreeSet<(String, String)> = list
        .lines()
        .filter(|line| !line.trim().starts_with("//"))
        .filter_map(|line| line.trim().split_once(" = "))
        .map(|(rule, case)| (rule.to_owned(), case.trim_matches(['"', ';']).replacen('/', "_", 1)))
        .collect();
    let expected = rules().into_iter().map(|rule| (rule.clone(), rule)).collect();
    assert_eq!(entries, expected, "each page shows the case of its own rule");
}

#[test]
fn the_message_of_a_case_ends_with_its_rule_and_says_nothing_else() {
    for rule in rules() {
        let (area, what) = rule.split_once('_').unwrap();
        let case = format!("tests/ui/{area}/{what}");
        let message = read(format!("{case}.stderr"));
        let begin = |kind: &str| message.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!((begin("error"), begin("warning")), (1, 0), "{case}: {message}");

        let mut messages = vec![(case.clone(), message)];
        if Path::new(&case).is_dir() {
            for name in names_in(&case).iter().filter(|name| name.ends_with(".stderr")) {
                messages.push((format!("{case}/{name}"), read(format!("{case}/{name}"))));
            }
        }
        for (case, message) in messages {
            assert_eq!(named_in(&message), BTreeSet::from([rule.clone()]), "{case}");
        }
    }
}

#[test]
fn every_message_of_ours_has_its_four_parts_and_no_name_of_the_inside() {
    for area in names_in("tests/ui") {
        for (case, message) in messages_below(Path::new("tests/ui").join(area)) {
            for inside in ["__idem", "__IDEM", "idem_core", "idem_macros", "unreachable"] {
                assert!(!message.contains(inside), "{case} names `{inside}`:\n{message}");
            }
            for part in message.split("\n\n").filter(|part| part.contains("\n       rule: ")) {
                let lines: Vec<&str> = part.trim_start().lines().collect();
                let [what, why, help, rule, at, ..] = &lines[..] else { panic!("{case}:\n{part}") };
                assert!(what.starts_with("error: ") && !what.ends_with('.'), "{case}:\n{part}");
                assert!(why.starts_with("       why: ") && !why.ends_with('.'), "{case}:\n{part}");
                assert!(help.starts_with("       help: ") && !help.ends_with('.'), "{case}:\n{part}");
                assert!(rule.starts_with("       rule: idem::errors::"), "{case}:\n{part}");
                assert!(at.trim_start().starts_with("--> "), "{case}:\n{part}");
                let caret = lines.iter().position(|line| line.contains('^')).expect("there is a caret");
                let attribute = lines[caret - 1].find("#[idempotent");
                assert!(
                    attribute.is_none() || attribute != lines[caret].find('^'),
                    "all of it, in {case}:\n{part}"
                );
            }
        }
    }
}

fn messages_below(folder: impl AsRef<Path>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in names_in(&folder) {
        let path = folder.as_ref().join(name);
        if path.is_dir() {
            found.extend(messages_below(path));
        } else if path.extension().is_some_and(|extension| extension == "stderr") {
            found.push((path.display().to_string(), read(&path)));
        }
    }
    found
}

/// What the README shows is a case of ours, with its message, under a name that a reader's file could have.
#[test]
fn the_readme_shows_real_messages() {
    let readme = read("README.md");
    let section = readme.split_once("## What the compiler refuses").unwrap().1.split_once("\n## ").unwrap().0;
    let blocks = |opening: &str| -> Vec<String> {
        let mut parts = section.split(opening);
        parts.next();
        parts.map(|part| part.split_once("```").unwrap().0.to_owned()).collect()
    };
    let (codes, messages) = (blocks("```rust compile_fail\n"), blocks("```text\n"));
    let shown = [("key/unknown_argument", "src/pay.rs"), ("key/per_attempt", "src/mail.rs")];
    assert_eq!((codes.len(), messages.len()), (shown.len(), shown.len()));
    for (at, (case, file)) in shown.into_iter().enumerate() {
        let source = read(format!("tests/ui/{case}.rs"));
        assert!(source.starts_with(&codes[at]), "the README shows other code than {case}.rs:\n{}", codes[at]);
        let message = read(format!("tests/ui/{case}.stderr")).replace(&format!("tests/ui/{case}.rs"), file);
        assert_eq!(messages[at], message, "of {case}");
    }
}
