//! Methods of the standard library's traits, and of `str`, that are no `const fn`, although most give the same each time.

pub(super) static METHODS: &[&str] = &[
    "as_deref",
    "as_ref",
    "borrow",
    "clone",
    "cloned",
    "deref",
    "into",
    "to_ascii_lowercase",
    "to_ascii_uppercase",
    "to_lowercase",
    "to_owned",
    "to_string",
    "to_uppercase",
    "to_vec",
    "trim",
    "try_into",
];
