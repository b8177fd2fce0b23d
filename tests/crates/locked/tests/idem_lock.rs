//! The test that a team would have, and what it does when it is run otherwise.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use idem_test_locked as _; // the crate with the handlers: one that is not named is not linked

#[test]
fn keys_and_windows_are_those_that_were_reviewed() {
    idem::testing::assert_keys_locked("idem.lock");
}

/// A package's folder with this lock file in it; it goes with the test.
struct Package(PathBuf);

impl Package {
    fn new(name: &str, lock: Option<&str>) -> Self {
        let folder = std::env::temp_dir().join(format!("idem-locked-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        if let Some(lock) = lock {
            fs::write(folder.join("idem.lock"), lock).unwrap();
        }
        Self(folder)
    }

    fn lock(&self) -> Option<String> {
        fs::read_to_string(self.0.join("idem.lock")).ok()
    }

    /// Runs the test above as if this were its package.
    fn test(&self, environment: &[(&str, &str)]) -> Result<(), String> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "keys_and_windows_are_those_that_were_reviewed", "--nocapture"]);
        command.env_remove("CI").env_remove("IDEM_LOCK").env("CARGO_MANIFEST_DIR", &self.0);
        let Output { status, stdout, stderr } = command.envs(environment.iter().copied()).output().unwrap();
        let said = String::from_utf8_lossy(&stderr).into_owned();
        assert!(String::from_utf8_lossy(&stdout).contains("running 1 test"), "{said}");
        if status.success() { Ok(()) } else { Err(said) }
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is checked in.
fn accepted() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("idem.lock");
    fs::read_to_string(file).unwrap().replace("\r\n", "\n")
}

#[test]
fn an_update_writes_what_is_checked_in() {
    let package = Package::new("update", None);
    let failure = package.test(&[]).unwrap_err();
    assert!(failure.contains("IDEM_LOCK=update cargo test"), "{failure}");
    assert_eq!(package.lock(), None);
    package.test(&[("IDEM_LOCK", "update")]).unwrap();
    assert_eq!(package.lock().unwrap(), accepted());
    package.test(&[]).unwrap();
    package.test(&[("CI", "true")]).unwrap();
}

#[test]
fn a_change_fails_until_it_is_accepted() {
    let before = accepted()
        .replace("key = \"msg:<payment.id>\"\n    mode", "key = \"pay:<payment.id>\"\n    mode")
        .replace("handler \"billing.refund\"", "handler \"billing.payback\"");
    let package = Package::new("changed", Some(&before));
    let failure = package.test(&[]).unwrap_err();
    for said in [
        "changed: handler \"idem_test_locked::charge\" at tests/crates/locked/src/lib.rs:",
        "    - key = \"pay:<payment.id>\"\n    + key = \"msg:<payment.id>\"\n      a record is found by its key",
        "renamed? handler \"billing.refund\"",
        "`scope_was = [\"billing.payback\"]`",
    ] {
        assert!(failure.contains(said), "{said}\n\n{failure}");
    }
    assert_eq!(package.lock().unwrap(), before);
    package.test(&[("IDEM_LOCK", "update")]).unwrap();
    package.test(&[]).unwrap();
}

/// `billing.refund` says that its scope was `refund`, and never that it was `billing.payback`.
#[test]
fn f56_a_renamed_handler_fails_the_check_and_scope_was_keeps_its_records() {
    for (former, said, meaning) in [
        ("billing.payback", "renamed? handler \"billing.refund\"", "runs again when it is delivered again"),
        ("refund", "renamed: handler \"billing.refund\"", "so its records still count"),
    ] {
        let before = accepted().replace("handler \"billing.refund\"", &format!("handler \"{former}\""));
        let package = Package::new(&format!("renamed-{former}"), Some(&before));
        for environment in [&[][..], &[("CI", "true")]] {
            let failure = package.test(environment).unwrap_err();
            assert!(failure.contains(said) && failure.contains(meaning), "{former}\n\n{failure}");
        }
        assert_eq!(package.lock().unwrap(), before);
        package.test(&[("IDEM_LOCK", "update")]).unwrap();
        package.test(&[("CI", "true")]).unwrap();
    }
}

#[test]
fn nothing_is_accepted_where_nobody_reads_the_diff() {
    let package = Package::new("ci", None);
    let failure = package.test(&[("IDEM_LOCK", "update"), ("CI", "true")]).unwrap_err();
    assert!(failure.contains("a job that accepts all changes checks nothing"), "{failure}");
    let failure = package.test(&[("IDEM_LOCK", "yes")]).unwrap_err();
    assert!(failure.contains("IDEM_LOCK is `yes`; set it to `update`"), "{failure}");
    assert_eq!(package.lock(), None);
}
