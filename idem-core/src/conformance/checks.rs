//! How a check is written, and how each becomes a test of its own.

/// Makes the checks of one file: each a public function that takes a fixture. The first paragraph of a check's documentation is the
/// clause that it proves, and is what a failure quotes.
///
/// `$d` is a dollar sign: the list of names is a macro too, so that no check can be written and then not run.
macro_rules! checks {
    (
        $d:tt $list:ident, $group:literal, $fixture:ident;
        $( $(#[doc = $clause:literal])+ fn $check:ident($store:ident $(, $extra:ident)?) $body:block )+
    ) => {
        $(
            $(#[doc = $clause])+
            pub fn $check(fixture: &dyn $fixture) {
                let about = About {
                    check: concat!($group, "::", stringify!($check)),
                    clause: concat!($($clause, "\n"),+),
                };
                let $store = Subject::new(fixture, about);
                $( let $extra = fixture; )?
                $body
            }
        )+

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d($d head:tt)*) => {
                $crate::__conformance_tests! { $d($d head)* $($check)+ }
            };
        }
    };
}

/// What an answer must look like; the value after `=>` comes out.
macro_rules! must_be {
    ($store:expr, $answer:expr, $pattern:pat $(if $guard:expr)? $(=> $value:expr)?) => {
        match $answer {
            $pattern $(if $guard)? => { $($value)? }
            other => $store.broken(concat!(stringify!($pattern) $(, " if ", stringify!($guard))?), &other),
        }
    };
}

pub(crate) use {checks, must_be};

/// Makes every check of a group a `#[test]` of its own.
///
/// The arguments are a group, a name for the module of its tests, and an expression that makes a fixture. It is evaluated for each
/// test, in the scope of the macro call; the call stands in a module, not in a function. Attributes before the group are put on
/// every test.
///
/// | group | what it proves | the fixture |
/// | --- | --- | --- |
/// | `core` | each clause of the contract, and each line of the protocol's table, and random operations against [`machine::decide`](crate::machine::decide) | any [`Fixture`](crate::conformance::Fixture), so any store that is `Clone` |
/// | `keys` | a record is found by all 32 bytes of its key, whatever they are | the same |
/// | `batch` | the clauses of `claim_many` and `end_many` | the same |
/// | `clock` | boundary instants, ages and remaining times, alone and in random operations | [`MovesClock`](crate::conformance::MovesClock), such as [`OnClock`](crate::conformance::OnClock) |
/// | `durable` | what a restart may not take | [`Reopens`](crate::conformance::Reopens), such as [`Opening`](crate::conformance::Opening) |
/// | `shared` | what holds between two ways to the same records | [`Shares`](crate::conformance::Shares), such as [`Opening`](crate::conformance::Opening) |
/// | `processes` | what holds between processes, and when one is killed | [`Spans`](crate::conformance::Spans) |
/// | `bounded` | what a full store may not do | [`Bounded`](crate::conformance::Bounded), such as [`Small`](crate::conformance::Small) |
///
/// ```
/// # extern crate idem_core as idem;
/// # fn main() {}
/// # #[cfg(feature = "memory")]
/// mod stores {
///     use idem::{MemoryStore, conformance::OnClock};
///
///     idem::conformance_tests!(core, memory, MemoryStore::new());
///     idem::conformance_tests!(clock, memory_on_a_clock, OnClock::new(|clock| {
///         MemoryStore::builder().clock(clock).build()
///     }));
///     idem::conformance_tests!(#[ignore = "needs two hours"] batch, memory_batch, MemoryStore::new());
/// }
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($(#[$attribute:meta])* core, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_core_claims! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_payloads! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_tries! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_endings! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_results! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_ownership! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_operator! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_resent! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_races! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_hostile! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_replies! { [$(#[$attribute])*] core ($fixture) }
            $crate::__conformance_core_model! { [$(#[$attribute])*] core ($fixture) }
        }
    };
    ($(#[$attribute:meta])* keys, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_keys! { [$(#[$attribute])*] keys ($fixture) }
        }
    };
    ($(#[$attribute:meta])* batch, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_batch_claims! { [$(#[$attribute])*] batch ($fixture) }
            $crate::__conformance_batch_completions! { [$(#[$attribute])*] batch ($fixture) }
            $crate::__conformance_batch_ends! { [$(#[$attribute])*] batch ($fixture) }
        }
    };
    ($(#[$attribute:meta])* clock, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_clock_boundaries! { [$(#[$attribute])*] clock ($fixture) }
            $crate::__conformance_clock_times! { [$(#[$attribute])*] clock ($fixture) }
            $crate::__conformance_clock_model! { [$(#[$attribute])*] clock ($fixture) }
        }
    };
    ($(#[$attribute:meta])* durable, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_durable! { [$(#[$attribute])*] durable ($fixture) }
        }
    };
    ($(#[$attribute:meta])* shared, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_shared! { [$(#[$attribute])*] shared ($fixture) }
        }
    };
    ($(#[$attribute:meta])* processes, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_processes! { [$(#[$attribute])*] processes ($fixture) }
        }
    };
    ($(#[$attribute:meta])* bounded, $name:ident, $fixture:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            $crate::__conformance_bounded! { [$(#[$attribute])*] bounded ($fixture) }
        }
    };
}

/// One test for each name.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($attributes:tt $group:ident $fixture:tt $($check:ident)+) => {
        $( $crate::__conformance_test! { $attributes $group $fixture $check } )+
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_test {
    ([$(#[$attribute:meta])*] processes ($fixture:expr) $check:ident) => {
        #[test]
        $(#[$attribute])*
        fn $check() {
            $crate::conformance::processes::$check(|| $fixture, concat!(module_path!(), "::", stringify!($check)));
        }
    };
    ([$(#[$attribute:meta])*] $group:ident ($fixture:expr) $check:ident) => {
        #[test]
        $(#[$attribute])*
        fn $check() {
            $crate::conformance::$group::$check(&$fixture);
        }
    };
}
