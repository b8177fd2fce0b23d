//! Methods of the standard library's traits, and of `str`, that are no `const fn`, although most give the same each time.

/// Those that change nothing that a key would show.
pub(super) static CONVERSIONS: &[&str] = &[
    "as_deref",
    "as_ref",
    "borrow",
    "clone",
    "cloned",
    "deref",
    "into",
    "to_owned",
    "to_string",
    "to_vec",
    "try_into",
];

pub(super) static OTHERS: &[&str] = &[
    "to_ascii_lowercase",
    "to_ascii_uppercase",
    "to_lowercase",
    "to_uppercase",
    "trim",
    "trim_end",
    "trim_start",
];
