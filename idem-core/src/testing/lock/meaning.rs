//! What a changed option does to messages that are in flight: handled or begun before the deploy, and delivered again after it.

/// One sentence for the option that changed, from the lines that it had to those that it has; none if it says no more than its name.
pub(super) fn of(option: &str, before: &[&str], after: &[&str]) -> Option<&'static str> {
    // A handler that begins or ceases to keep records gets or loses its windows, and that is said of `store`.
    let records_begin_or_cease = before.is_empty() || after.is_empty();
    Some(match option {
        "key" => {
            "a record is found by its key: what was handled under the old key runs again when it is delivered again. Let the queue run \
             empty before the deploy, or be sure that a second run does no harm. If only a name in the code changed, the keys are the same"
        }
        "mode" | "ttl" | "keep" if records_begin_or_cease => return None,
        "store" if after.contains(&"store = none") => {
            "no records are read or made any more: each delivery runs, and only the API that gets the key deduplicates"
        }
        "store" => {
            "records stay where they are: what was handled before, and is not in the store now, runs again when it is delivered again"
        }
        "scope_was" => {
            "records under a former scope count while it is listed: of one that is gone, what was handled under it runs again"
        }
        "mode" if after.contains(&"mode = \"at_most_once\"") => {
            "from now on a worker that dies after its claim, or whose body fails, loses the message; so does a claim that is open at the deploy"
        }
        "mode" => {
            "a message whose worker died, or whose body failed, runs again from now on; so does one that was lost before, if it is delivered \
             again"
        }
        "ttl" => {
            "for records made from now on; those that are there keep theirs. A redelivery later than this is told *done* without the result"
        }
        "keep" => {
            "for records made from now on; those that are there keep theirs. A redelivery later than this runs again"
        }
        "redelivery" if after.is_empty() => {
            "nothing compares `keep` with the queue any more: a redelivery later than `keep` runs again"
        }
        "redelivery" => {
            "how long the queue, or its dead letters, can still deliver: compare it with what is set there"
        }
        "lease" | "max_hold" => {
            "for attempts made from now on. A body that takes longer than this without a renewal can be overtaken by a redelivery"
        }
        "max_tries" => "tries that were made before the deploy count",
        "payload" => {
            "a record of another payload is a mismatch: what was handled or begun before, and is delivered again, is parked and not replayed"
        }
        "on_lapse" if after.is_empty() => {
            "a message whose worker fell silent runs again, also if that was before the deploy"
        }
        "on_lapse" => {
            "a message whose worker fell silent waits for a person, also if that was before the deploy"
        }
        "on_duplicate" => {
            "records are not concerned: it is what a delivery is told, or waits for, while another one runs"
        }
        "final_error" => "errors that were kept are replayed until their hour is over, and no others",
        "require" => {
            "records are not concerned: a weaker store is refused, by the compiler or at the first call"
        }
        "once_per" => {
            "the key stands for this entity and not for a message: a second message of the same entity does not run"
        }
        "trust" => "a person vouches that this is the same on every attempt: is the reason good?",
        "allow" => "a person says that this rule does not apply: is the reason good?",
        _ => return None,
    })
}

/// Of a scope that is gone, and another one that seems to be the same handler's.
pub(super) const RENAMED: &str =
    "records belong to a scope: what was handled under the old one runs again when it is delivered again";

/// Of one whose new scope names the old one.
pub(super) const RENAMED_AND_SAID: &str =
    "`scope_was` names the old scope, so its records still count; keep it there for as long as they live";

/// Of a handler that was not there.
pub(super) const NEW: &str =
    "it has no records yet: a message that was worked on before it had this scope runs once more";

/// Of a handler that is no longer there.
pub(super) const REMOVED: &str = "its records stay until their `keep` is over, and a later handler of this scope would find them. If it was \
     not removed, its crate may not be linked into this test: `use the_crate as _;`";

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn every_option_that_a_line_can_be_of_says_what_its_change_does() {
        let options = [
            "key",
            "store",
            "scope_was",
            "redelivery",
            "lease",
            "max_hold",
            "max_tries",
            "payload",
            "on_lapse",
            "on_duplicate",
            "final_error",
            "require",
            "once_per",
            "trust",
            "allow",
        ];
        for option in options {
            for (before, after) in [(&["a"][..], &["b"][..]), (&["a"], &[]), (&[], &["b"])] {
                assert!(of(option, before, after).is_some(), "{option}");
            }
        }
        for option in ["mode", "ttl", "keep"] {
            assert!(of(option, &["a"], &["b"]).is_some(), "{option}");
            assert_eq!(of(option, &["a"], &[]), None, "said of `store`");
        }
        assert_eq!(of("of_a_later_version", &[], &[]), None);
    }

    #[test]
    fn the_direction_of_a_change_counts() {
        let said = |option, before: &[&str], after: &[&str]| of(option, before, after).unwrap();
        assert!(said("store", &[], &["store = none"]).contains("each delivery runs"));
        assert!(said("store", &["store = none"], &[]).contains("not in the store now"));
        assert!(
            said("mode", &["mode = \"lease_and_replay\""], &["mode = \"at_most_once\""]).contains("loses")
        );
        assert!(said("on_lapse", &["on_lapse = \"park\""], &[]).contains("runs again"));
        assert!(said("on_lapse", &[], &["on_lapse = \"park\""]).contains("waits for a person"));
        assert!(said("redelivery", &["redelivery = \"14d\""], &[]).contains("nothing compares"));
    }
}
