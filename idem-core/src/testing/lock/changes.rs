//! What differs between a lock file and the handlers that are there, and how to say it to whoever changed it.

use std::fmt;

use super::file::{Entry, name};
use super::meaning;
use crate::registry::RegisteredHandler;

/// A handler that is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) entry: Entry,
    /// Its former scopes.
    was: &'static [&'static str],
    place: (&'static str, u32),
}

impl Found {
    pub(super) fn of(handler: &RegisteredHandler) -> Self {
        Self { entry: Entry::of(handler), was: handler.scope_was(), place: (handler.file(), handler.line()) }
    }

    /// Whether it says that it had this scope before.
    fn was(&self, former: &Entry) -> bool {
        self.was.iter().any(|scope| former.header == crate::registry::header_of(scope))
    }
}

/// One handler that is not as the file has it.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Changed(Entry, Found),
    /// Gone under one scope, and probably there under another.
    Renamed(Entry, Found),
    New(Found),
    Removed(Entry),
}

/// All that changed; never empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Report(Vec<Change>);

impl Report {
    /// What changed, if anything did.
    pub(super) fn of(mut before: Vec<Entry>, mut after: Vec<Found>) -> Option<Self> {
        before.sort();
        after.sort();
        before.retain(|entry| {
            let same = after.iter().position(|found| found.entry.says_the_same_as(entry));
            same.map(|at| after.remove(at)).is_none()
        });
        let (mut changes, mut gone) = (Vec::new(), Vec::new());
        for entry in before {
            match after.iter().position(|found| found.entry.header == entry.header) {
                Some(at) => changes.push(Change::Changed(entry, after.remove(at))),
                None => gone.push(entry),
            }
        }
        for entry in gone {
            match successor(&entry, &after) {
                Some(at) => changes.push(Change::Renamed(entry, after.remove(at))),
                None => changes.push(Change::Removed(entry)),
            }
        }
        changes.extend(after.into_iter().map(Change::New));
        (!changes.is_empty()).then_some(Self(changes))
    }
}

/// The new handler that an old one has probably become: one that says so; else one with the same key, of these the one that shares
/// most of its name and its options.
fn successor(gone: &Entry, new: &[Found]) -> Option<usize> {
    if let Some(said) = new.iter().position(|found| found.was(gone)) {
        return Some(said);
    }
    let same_key = |found: &Found| found.entry.lines("key").eq(gone.lines("key"));
    let likeness = |found: &Found| {
        let shared = found.entry.options.iter().filter(|line| gone.options.contains(line)).count();
        (last_word(&found.entry.header) == last_word(&gone.header), shared)
    };
    let candidates = new.iter().enumerate().filter(|(_, found)| same_key(found));
    candidates.max_by_key(|(at, found)| (likeness(found), usize::MAX - at)).map(|(at, _)| at)
}

/// The function, or the last part of the name that was given: `charge` of `billing::charge` and of `billing.charge`.
fn last_word(header: &str) -> &str {
    header
        .trim_end_matches('"')
        .rsplit(|char: char| !char.is_alphanumeric() && char != '_')
        .next()
        .unwrap_or(header)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |which: fn(&Change) -> bool| self.0.iter().filter(|change| which(change)).count();
        let counts = [
            (count(|change| matches!(change, Change::Changed(..))), "changed"),
            (count(|change| matches!(change, Change::Renamed(..))), "renamed"),
            (count(|change| matches!(change, Change::New(..))), "new"),
            (count(|change| matches!(change, Change::Removed(..))), "removed"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        f.write_str(&counts.join(", "))?;
        self.0.iter().try_for_each(|change| write!(f, "\n\n{change}"))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(before, after) => {
                let (file, line) = after.place;
                write!(f, "changed: {} at {file}:{line}", after.entry.header)?;
                differences(before, &after.entry, f)
            }
            Self::Renamed(before, after) => {
                let (file, line) = after.place;
                let said = after.was(before);
                let (renamed, meaning) = if said {
                    ("renamed:", meaning::RENAMED_AND_SAID)
                } else {
                    ("renamed?", meaning::RENAMED)
                };
                write!(f, "{renamed} {} at {file}:{line}", after.entry.header)?;
                write!(f, "\n    - {}\n    + {}\n      {meaning}", before.header, after.entry.header)?;
                match before.header.strip_prefix("handler \"") {
                    Some(scope) if !said => {
                        write!(f, ". If it is the same handler, keep them with `scope_was = [\"{scope}]`")?;
                    }
                    _ => {}
                }
                differences(before, &after.entry, f)
            }
            Self::New(found) => {
                let (file, line) = found.place;
                write!(f, "new: {} at {file}:{line}", found.entry.header)?;
                found.entry.options.iter().try_for_each(|option| write!(f, "\n    + {option}"))?;
                write!(f, "\n      {}", meaning::NEW)
            }
            Self::Removed(entry) => {
                write!(f, "removed: {}", entry.header)?;
                entry.options.iter().try_for_each(|option| write!(f, "\n    - {option}"))?;
                write!(f, "\n      {}", meaning::REMOVED)
            }
        }
    }
}

/// The lines that differ, option by option, each option with what its change does.
fn differences(before: &Entry, after: &Entry, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut options: Vec<&str> = Vec::new();
    for line in before.options.iter().chain(&after.options) {
        if !options.contains(&name(line)) {
            options.push(name(line));
        }
    }
    for option in options {
        let (was, is): (Vec<_>, Vec<_>) = (before.lines(option).collect(), after.lines(option).collect());
        let gone: Vec<_> = was.iter().filter(|line| !is.contains(line)).collect();
        let come: Vec<_> = is.iter().filter(|line| !was.contains(line)).collect();
        if gone.is_empty() && come.is_empty() {
            continue;
        }
        gone.iter().try_for_each(|line| write!(f, "\n    - {line}"))?;
        come.iter().try_for_each(|line| write!(f, "\n    + {line}"))?;
        if let Some(meaning) = meaning::of(option, &was, &is) {
            write!(f, "\n      {meaning}")?;
        }
    }
    Ok(())
}
