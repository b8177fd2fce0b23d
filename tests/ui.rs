//! What the compiler says when a rule is broken: each case of `tests/ui` with its message.
//!
//! `TRYBUILD=overwrite cargo test --test ui` writes the messages; then read them.

use std::fs;

/// Areas whose messages are the compiler's own.
const COMPILER: [&str; 3] = ["compiler", "facts", "shapes"];

/// Where the compiler lists types that implement a trait, and those of the feature `bson` would be among the first.
const LISTS_TYPES: &str = "payload_not_serializable.rs";

/// Which of the cases are about a store whose feature has to be on.
const OF_REDIS: &str = "require_durable_of_redis.rs";

fn areas() -> Vec<String> {
    names("tests/ui")
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("tests run in the package's folder");
    entries
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("it is text"))
        .collect()
}

/// Our own messages, which read the same under every compiler.
#[test]
fn every_broken_rule_has_its_message() {
    let cases = trybuild::TestCases::new();
    for area in areas().iter().filter(|area| !COMPILER.contains(&area.as_str())) {
        cases.compile_fail(format!("tests/ui/{area}/*.rs"));
        cases.compile_fail(format!("tests/ui/{area}/*/*.rs"));
    }
}

/// The compiler's own messages, with our words in them where it lets us.
#[rustversion::attr(
    not(stable(1.95)),
    ignore = "the compiler's own words differ between versions; these are those of 1.95"
)]
#[test]
fn where_the_compiler_speaks_it_points_at_what_was_written() {
    let cases = trybuild::TestCases::new();
    for area in COMPILER {
        let folder = format!("tests/ui/{area}");
        for name in names(&folder).iter().filter(|name| name.strip_suffix(".rs").is_some()) {
            let can_run = match name.as_str() {
                LISTS_TYPES => cfg!(not(feature = "bson")),
                OF_REDIS => cfg!(feature = "redis"),
                _ => true,
            };
            if can_run {
                cases.compile_fail(format!("{folder}/{name}"));
            }
        }
        cases.compile_fail(format!("tests/ui/{area}/*/*.rs"));
    }
}
