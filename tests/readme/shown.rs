//! That the README shows these files, line by line.

use std::fs;
use std::path::Path;

/// Where else code of the README is compiled: what the compiler refuses is a case of `tests/ui`, see `tests/rules.rs`.
const ELSEWHERE: &str = "tests/crates/locked/tests/idem_lock.rs";

#[test]
fn every_block_of_the_readme_is_code_that_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = lines(&root.join("README.md"));
    let here = fs::read_dir(root.join("tests/readme")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = here.chain([root.join(ELSEWHERE)]).map(|file| lines(&file)).collect();
    let mut blocks = 0;
    for opening in (0..readme.len()).filter(|&line| readme[line] == "```rust") {
        let block: Vec<_> = readme[opening + 1..].iter().take_while(|line| *line != "```").collect();
        assert!(
            block.iter().all(|line| !line.starts_with("# ")),
            "a page shows what rustdoc hides: {block:#?}"
        );
        let is_in =
            |file: &Vec<String>| file.windows(block.len()).any(|part| part.iter().eq(block.iter().copied()));
        assert!(files.iter().any(is_in), "it is in none of the files: {block:#?}");
        blocks += 1;
    }
    assert!(blocks >= 9, "only {blocks} were found");
}

/// Without what they are indented by, which in a function is more, and without empty ones. A reader's crate has another name than ours.
fn lines(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.replace("idem_test_locked", "billing")
        .lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}
