use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::{Failure, Locked, Wish, locked};
use crate::Handler;
use crate::machine::OnLapse;
use crate::registry::RegisteredHandler;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("idem-lock-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn lock(&self) -> PathBuf {
        self.0.join("idem.lock")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

static CHARGE: Handler = Handler::new("billing.charge").at("src/charge.rs", 12);
static MAIL: Handler = Handler::new("billing.mail").at("src/mail.rs", 7);

fn charge() -> RegisteredHandler {
    RegisteredHandler::new(&CHARGE, "billing::charge", &["msg:<payment.id>"])
}

fn mail() -> RegisteredHandler {
    RegisteredHandler::new(&MAIL, "billing::mail", &["msg:<welcome.id>"])
}

/// What the test says once the handlers `before` were accepted, and `after` are there.
fn failure(name: &str, before: &[&RegisteredHandler], after: &[&RegisteredHandler]) -> String {
    let folder = Folder::new(name);
    assert_eq!(locked(Wish::Update, &folder.lock(), before, Vec::new()).unwrap(), Locked::Written);
    let kept = fs::read_to_string(folder.lock()).unwrap();
    let failure =
        locked(Wish::Compare, &folder.lock(), after, Vec::new()).expect_err("something changed").to_string();
    assert_eq!(fs::read_to_string(folder.lock()).unwrap(), kept, "comparing writes nothing");
    failure.replace(&folder.lock().display().to_string(), "idem.lock")
}

fn wish(lock: Option<&str>, ci: Option<&str>) -> Result<Wish, String> {
    Wish::of(lock.map(OsString::from), ci.map(OsString::from)).map_err(|failure| failure.to_string())
}

#[test]
fn only_update_updates_and_never_where_nobody_reads_the_diff() {
    for ci in [None, Some(""), Some("true")] {
        assert_eq!(wish(None, ci), Ok(Wish::Compare));
        assert_eq!(wish(Some(""), ci), Ok(Wish::Compare));
        assert!(wish(Some("1"), ci).unwrap_err().starts_with("IDEM_LOCK is `1`; set it to `update`"));
        assert!(wish(Some("Update"), ci).is_err());
    }
    for no_ci in [None, Some(""), Some("0"), Some("false")] {
        assert_eq!(wish(Some("update"), no_ci), Ok(Wish::Update));
    }
    assert!(wish(Some("update"), Some("true")).unwrap_err().contains("checks nothing"));
}

#[test]
fn what_was_accepted_passes_until_it_changes() {
    let folder = Folder::new("accepted");
    let (charge, mail) = (charge(), mail());
    assert!(matches!(locked(Wish::Compare, &folder.lock(), &[&charge], Vec::new()), Err(Failure::NoFile(_))));
    assert_eq!(locked(Wish::Update, &folder.lock(), &[&mail, &charge], Vec::new()).unwrap(), Locked::Written);
    assert_eq!(locked(Wish::Compare, &folder.lock(), &[&charge, &mail], Vec::new()).unwrap(), Locked::Same);
    assert_eq!(locked(Wish::Update, &folder.lock(), &[&charge, &mail], Vec::new()).unwrap(), Locked::Same);
    let names: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["idem.lock"], "nothing is left beside it");
}

#[test]
fn a_missing_file_says_how_to_make_it() {
    let folder = Folder::new("missing");
    let failure = locked(Wish::Compare, &folder.lock(), &[&charge()], Vec::new()).unwrap_err().to_string();
    assert!(failure.contains("IDEM_LOCK=update cargo test"), "{failure}");
    assert!(failure.contains(&folder.lock().display().to_string()), "{failure}");
}

#[test]
fn a_test_without_handlers_proves_nothing() {
    let folder = Folder::new("empty");
    for wish in [Wish::Compare, Wish::Update] {
        let failure = locked(wish, &folder.lock(), &[], Vec::new()).unwrap_err().to_string();
        assert!(failure.contains("use the_crate as _;"), "{failure}");
    }
    assert!(!folder.lock().exists());
}

#[test]
fn what_is_no_lock_file_is_compared_with_nothing() {
    let folder = Folder::new("malformed");
    fs::write(folder.lock(), "version = 1\n<<<<<<< HEAD\n").unwrap();
    let failure = locked(Wish::Compare, &folder.lock(), &[&charge()], Vec::new()).unwrap_err().to_string();
    assert!(failure.contains("line 2 belongs to no handler: `<<<<<<< HEAD`"), "{failure}");
    let failure = locked(Wish::Update, &folder.0, &[&charge()], Vec::new()).unwrap_err();
    assert!(matches!(failure, Failure::NotRead(..)), "a folder is not written over: {failure}");
}

#[test]
fn an_update_leaves_alone_what_is_no_lock_file() {
    let folder = Folder::new("another-file");
    let manifest = "[package]\nname = \"billing\"\n";
    fs::write(folder.lock(), manifest).unwrap();
    let failure = locked(Wish::Update, &folder.lock(), &[&charge()], Vec::new()).unwrap_err().to_string();
    assert!(failure.contains("it is not written over"), "{failure}");
    assert_eq!(fs::read_to_string(folder.lock()).unwrap(), manifest);
}

#[test]
fn what_cannot_be_read_or_written_says_what_to_do() {
    let folder = Folder::new("no-folder");
    let inside = folder.0.join("locks").join("idem.lock");
    let failure = locked(Wish::Update, &inside, &[&charge()], Vec::new()).unwrap_err().to_string();
    assert!(failure.contains("its folder does not exist"), "{failure}");
    fs::write(folder.lock(), b"version = 1\n# caf\xe9\n").unwrap();
    let failure = locked(Wish::Update, &folder.lock(), &[&charge()], Vec::new()).unwrap_err().to_string();
    assert!(failure.contains("delete it and run the test with IDEM_LOCK=update"), "{failure}");
}

#[test]
fn a_changed_key_says_what_becomes_of_messages_in_flight() {
    let now = RegisteredHandler::new(&CHARGE, "billing::charge", &["evt:<payment.event>"]);
    assert_eq!(
        failure("key", &[&charge(), &mail()], &[&now, &mail()]),
        "the handlers are not as idem.lock has them: 1 changed\n\n\
         changed: handler \"billing.charge\" at src/charge.rs:12\n    \
         - key = \"msg:<payment.id>\"\n    \
         + key = \"evt:<payment.event>\"\n      \
         a record is found by its key: what was handled under the old key runs again when it is delivered again. Let the queue run \
         empty before the deploy, or be sure that a second run does no harm. If only a name in the code changed, the keys are the same\n\n\
         To accept this, run the test with IDEM_LOCK=update, read the diff of idem.lock, and commit it with the code:\n\n    \
         IDEM_LOCK=update cargo test"
    );
}

#[test]
fn each_option_that_changed_is_shown_with_what_its_change_does() {
    static NOW: Handler = Handler::new("billing.charge")
        .ttl(Duration::from_secs(86_400))
        .keep(Duration::from_secs(86_400 * 3))
        .on_lapse(OnLapse::Park);
    let now = RegisteredHandler::new(&NOW, "billing::charge", &["msg:<payment.id>"])
        .redelivered_for(86_400 * 2, 0)
        .compares(&["payment.amount"]);
    let failure = failure("options", &[&charge()], &[&now]);
    for lines in [
        "    - ttl = \"7d\"\n    + ttl = \"1d\"\n      for records made from now on",
        "    - keep = \"45d\"\n    + keep = \"3d\"\n      for records made from now on",
        "    + redelivery = \"2d\"\n      how long the queue",
        "    + payload(payment.amount)\n      a record of another payload is a mismatch",
        "    + on_lapse = \"park\"\n      a message whose worker fell silent waits for a person",
    ] {
        assert!(failure.contains(lines), "{lines}\n\n{failure}");
    }
    assert!(!failure.contains("key ="), "what is as it was is not shown: {failure}");
}

#[test]
fn f56_a_handler_under_another_scope_is_asked_whether_it_was_renamed() {
    static NOW: Handler = Handler::new("payments.charge").at("src/pay.rs", 3);
    static SAID: Handler = Handler::new("payments.charge").scope_was(&["billing.charge"]);
    let now = RegisteredHandler::new(&NOW, "payments::charge", &["msg:<payment.id>"]);
    let failure_unsaid = failure("renamed", &[&charge(), &mail()], &[&now, &mail()]);
    for lines in [
        "1 renamed\n\nrenamed? handler \"payments.charge\" at src/pay.rs:3\n    - handler \"billing.charge\"\n    + handler \"payments.charge\"",
        "keep them with `scope_was = [\"billing.charge\"]`",
    ] {
        assert!(failure_unsaid.contains(lines), "{lines}\n\n{failure_unsaid}");
    }
    let said = RegisteredHandler::new(&SAID, "payments::charge", &["evt:<payment.event>"]);
    let failure = failure("renamed-and-said", &[&charge()], &[&said]);
    assert!(failure.contains("renamed: handler \"payments.charge\""), "{failure}");
    assert!(failure.contains("so its records still count"), "{failure}");
    assert!(
        failure.contains("    + key = \"evt:<payment.event>\""),
        "what else changed is not lost: {failure}"
    );
}

/// Each handler as its module's path names it, and with a name of its own.
#[test]
fn f56_a_moved_function_fails_the_check_unless_its_scope_was_given() {
    static BEFORE: Handler = Handler::new("app::billing::charge").at("src/billing.rs", 12);
    static MOVED: Handler = Handler::new("app::pay::charge").at("src/pay.rs", 3);
    static ELSEWHERE: Handler = Handler::new("billing.charge").at("src/pay.rs", 3);
    let key = &["msg:<payment.id>"];
    let before = RegisteredHandler::new(&BEFORE, "app::billing::charge", key);
    let moved = RegisteredHandler::new(&MOVED, "app::pay::charge", key);
    let failure = failure("moved", &[&before], &[&moved]);
    for said in [
        "renamed? handler \"app::pay::charge\" at src/pay.rs:3",
        "runs again when it is delivered again",
        "keep them with `scope_was = [\"app::billing::charge\"]`",
    ] {
        assert!(failure.contains(said), "{said}\n\n{failure}");
    }

    let folder = Folder::new("moved-with-its-scope");
    let elsewhere = RegisteredHandler::new(&ELSEWHERE, "app::pay::charge", key);
    locked(Wish::Update, &folder.lock(), &[&charge()], Vec::new()).unwrap();
    let compared = locked(Wish::Compare, &folder.lock(), &[&elsewhere], Vec::new()).unwrap();
    assert_eq!(compared, Locked::Same);
}

#[test]
fn of_several_with_one_key_the_likeliest_is_the_renamed_one() {
    static MOVED: Handler = Handler::new("payments::charge");
    static OTHER: Handler = Handler::new("payments::audit");
    let key = &["msg:<payment.id>"];
    let (moved, other) = (RegisteredHandler::new(&MOVED, "", key), RegisteredHandler::new(&OTHER, "", key));
    let failure = failure("likeliest", &[&charge()], &[&other, &moved]);
    assert!(failure.contains("renamed? handler \"payments::charge\""), "{failure}");
    assert!(failure.contains("new: handler \"payments::audit\""), "{failure}");
}

#[test]
fn handlers_that_came_and_went_are_shown_whole() {
    let failure = failure("came-and-went", &[&charge()], &[&mail()]);
    assert!(failure.contains("1 new, 1 removed"), "{failure}");
    assert!(
        failure
            .contains("new: handler \"billing.mail\" at src/mail.rs:7\n    + key = \"msg:<welcome.id>\"\n"),
        "{failure}"
    );
    assert!(
        failure.contains("removed: handler \"billing.charge\"\n    - key = \"msg:<payment.id>\"\n"),
        "{failure}"
    );
}

#[test]
fn handlers_whose_scope_only_a_call_knows_may_look_alike() {
    static ONE: Handler = Handler::new("T::NAME");
    let generic = |key| RegisteredHandler::new(&ONE, "billing::work", key).expression();
    let (one, two) = (generic(&["msg:<m.id>"]), generic(&["evt:<m.id>"]));
    let failure = failure("alike", &[&one, &two], &[&one]);
    let header = "handler of billing::work with scope = T::NAME";
    assert!(
        failure.contains(&format!("1 removed\n\nremoved: {header}\n    - key = \"evt:<m.id>\"")),
        "{failure}"
    );
    let folder = Folder::new("alike-same");
    locked(Wish::Update, &folder.lock(), &[&one, &two], Vec::new()).unwrap();
    assert_eq!(locked(Wish::Compare, &folder.lock(), &[&two, &one], Vec::new()).unwrap(), Locked::Same);
}
