//! The format of a lock file: one block for each handler, sorted, one option a line, and no place in the code. A diff of it shows what
//! changed and nothing else; git takes the line that begins a block for the heading of the hunk.

use std::fmt;

use crate::registry::{self, RegisteredHandler};

/// The format that is written, and the only one there has been. Another one is for changes that this version would misread.
const VERSION: &str = "version = 1";

const HEAD: &str = "\
# What the handlers of this package are known by, for review. Made by a test, `idem::testing::assert_keys_locked`.
# To accept a change, run that test with IDEM_LOCK=update, read the diff of this file, and commit it with the code.
";

/// A handler's block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Its first line.
    pub(super) header: String,
    /// The others, without their indentation.
    pub(super) options: Vec<String>,
}

impl Entry {
    pub(super) fn of(handler: &RegisteredHandler) -> Self {
        Self { header: registry::header(handler), options: registry::options(handler) }
    }

    /// Whether it has the same lines, in whatever order.
    pub(super) fn says_the_same_as(&self, other: &Self) -> bool {
        self.header == other.header
            && self.options.len() == other.options.len()
            && self.options.iter().all(|line| other.options.contains(line))
    }

    /// The lines of one option.
    pub(super) fn lines<'e>(&'e self, option: &'e str) -> impl Iterator<Item = &'e str> {
        self.options.iter().map(String::as_str).filter(move |line| name(line) == option)
    }
}

/// The option that a line is of: `trust` of `trust(…)`.
pub(super) fn name(line: &str) -> &str {
    let end = line.find(|char: char| !char.is_ascii_lowercase() && char != '_').unwrap_or(line.len());
    &line[..end]
}

/// The file of these blocks.
pub(super) fn write(mut entries: Vec<Entry>) -> String {
    entries.sort();
    let mut text = format!("{HEAD}{VERSION}\n");
    for Entry { header, options } in entries {
        text.extend(["\n", &header, "\n"]);
        for option in options {
            text.extend(["    ", &option, "\n"]);
        }
    }
    text
}

/// Why a file is not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// It does not begin with its version; what it begins with, if anything.
    NoVersion(Option<String>),
    /// A version that another idem wrote.
    OtherVersion(String),
    /// A line, counted from 1, that is no part of a block.
    Line(usize, String),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cure = "to have it written anew, run the test with IDEM_LOCK=update";
        match self {
            Self::NoVersion(None) => write!(f, "the file is empty, or cut off after its remarks; {cure}"),
            Self::NoVersion(Some(line)) => {
                write!(
                    f,
                    "a lock file begins with `{VERSION}`, and this one with `{line}`; if it is one, {cure}"
                )
            }
            Self::OtherVersion(version) => write!(
                f,
                "this file is of `{version}`, which another idem wrote; this one knows `{VERSION}`. Use that idem, or {cure}"
            ),
            Self::Line(at, line) => {
                write!(
                    f,
                    "line {at} belongs to no handler: `{line}`. Was a merge left unfinished? Else {cure}"
                )
            }
        }
    }
}

/// Whether an update may write over this: a lock file, however damaged or old it is, but nothing that a mistyped path leads to.
pub(super) fn may_be_one(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let is_first = |line: &str| line == VERSION || HEAD.starts_with(line) || line.starts_with("<<<<<<<");
    text.lines().map(str::trim_end).find(|line| !line.is_empty()).is_none_or(is_first)
}

/// The blocks of a file.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, Malformed> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    match lines.next() {
        Some((_, VERSION)) => {}
        Some((_, other)) if other.starts_with("version = ") => {
            return Err(Malformed::OtherVersion(other.to_owned()));
        }
        other => return Err(Malformed::NoVersion(other.map(|(_, line)| line.to_owned()))),
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (at, line) in lines {
        let option = line.trim_start();
        match entries.last_mut() {
            _ if line.starts_with("handler ") => {
                entries.push(Entry { header: line.to_owned(), options: Vec::new() });
            }
            Some(entry) if option.len() < line.len() && !name(option).is_empty() => {
                entry.options.push(option.to_owned());
            }
            _ => return Err(Malformed::Line(at, line.to_owned())),
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::{Entry, HEAD, Malformed, may_be_one, name, read, write};

    fn entry(header: &str, options: &[&str]) -> Entry {
        Entry {
            header: header.to_owned(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
        }
    }

    #[test]
    fn a_file_is_sorted_and_says_what_it_is() {
        let entries = vec![
            entry("handler \"b\"", &["key = \"b:<b>\""]),
            entry("handler \"a\"", &["key = \"a:<a>\"", "ttl = \"1d\""]),
        ];
        let text = write(entries);
        assert_eq!(
            text.strip_prefix(HEAD),
            Some(
                "version = 1\n\nhandler \"a\"\n    key = \"a:<a>\"\n    ttl = \"1d\"\n\nhandler \"b\"\n    key = \"b:<b>\"\n"
            )
        );
        assert!(text.contains("IDEM_LOCK=update"));
    }

    #[test]
    fn what_was_written_reads_back_whatever_the_ends_of_its_lines() {
        let entries = vec![
            entry("handler \"# a\"", &["key = \"a:<a>\"", "trust(a.b(), reason = \"# no comment\")"]),
            entry("handler of a::b with scope = T::NAME", &["key = [\"a:<a>\", \"b:<b>\"]"]),
        ];
        let text = write(entries.clone());
        assert_eq!(read(&text).as_ref(), Ok(&entries));
        assert_eq!(read(&text.replace('\n', "\r\n")).as_ref(), Ok(&entries));
        assert_eq!(read(&text.replace("\n\n", "\n# a remark\n\n\n")), Ok(entries));
    }

    #[test]
    fn what_is_no_lock_file_is_not_taken_for_one() {
        assert_eq!(read(""), Err(Malformed::NoVersion(None)));
        assert_eq!(read("# only a remark\n"), Err(Malformed::NoVersion(None)));
        assert_eq!(read("[package]\n"), Err(Malformed::NoVersion(Some("[package]".to_owned()))));
        assert_eq!(read("version = 10\n"), Err(Malformed::OtherVersion("version = 10".to_owned())));
    }

    #[test]
    fn an_update_writes_over_what_was_a_lock_file_and_over_nothing_else() {
        let text = write(vec![entry("handler \"a\"", &["ttl = \"1d\""])]);
        for damaged in [
            &text,
            &text[..30],
            "",
            "\n",
            "version = 1\n",
            &format!("\u{feff}{text}"),
            &text.replace('\n', "\r\n"),
            &format!("<<<<<<< HEAD\n{text}"),
            &text.replace("version = 1", "version = 2"),
        ] {
            assert!(may_be_one(damaged), "{damaged}");
        }
        let cargo_lock = "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 4\n";
        for other in
            [cargo_lock, "[package]\nname = \"billing\"\n", "# Notes\n", "version = 2\n", "fn main() {}\n"]
        {
            assert!(!may_be_one(other), "{other}");
        }
    }

    #[test]
    fn a_merge_left_unfinished_is_no_option() {
        for line in ["<<<<<<< HEAD", "=======", ">>>>>>> main", "handlers", "key = \"not indented\""] {
            let text = format!("version = 1\nhandler \"a\"\n    ttl = \"1d\"\n{line}\n");
            assert_eq!(read(&text), Err(Malformed::Line(4, line.to_owned())));
        }
        assert_eq!(
            read("version = 1\n    ttl = \"1d\"\n"),
            Err(Malformed::Line(2, "    ttl = \"1d\"".to_owned()))
        );
    }

    #[test]
    fn an_option_is_named_by_the_word_that_it_begins_with() {
        for (line, option) in [
            ("key = \"msg:<id>\"", "key"),
            ("payload(m.amount)", "payload"),
            ("on_duplicate = wait(\"5s\")", "on_duplicate"),
            ("trust(m.offset(), reason = \"ttl\")", "trust"),
            ("=", ""),
        ] {
            assert_eq!(name(line), option);
        }
    }
}
