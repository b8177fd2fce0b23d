//! The protocol beside a store: a state machine that asks at random, knows what `decide` answers, and compares.
//!
//! [`Protocol`] is the pure machine over a few records and attempts. It makes up what is asked and says what the answer is; `proptest` and
//! `proptest-state-machine` choose the sequences, and take away from one that fails what it does not need. [`Beside`] asks the store.

mod beside;
mod protocol;
mod transitions;

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::strategy::{Just, Strategy as _};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use proptest_state_machine::ReferenceStateMachine as _;
use proptest_state_machine::strategy::Sequential;

use self::beside::{Beside, Mismatch};
use self::protocol::{Protocol, State, Transition};
use super::fixture::MovesClock;
use super::subject::Subject;
use crate::Token;

/// Sets the seed, to see a failure again.
const SEED: &str = "IDEM_CONFORMANCE_SEED";
/// Sets how many sequences are tried.
const RUNS: &str = "IDEM_CONFORMANCE_RUNS";

/// Steps of a sequence, before it is made shorter.
const STEPS: RangeInclusive<usize> = 40..=60;

/// Sequences that are tried, at most, to make one that failed shorter.
const SHRINKS: u32 = 3_000;

/// By what a store decides.
#[derive(Clone, Copy)]
pub(super) enum Time<'c> {
    /// A clock that stands still until the machine moves it: all times are compared.
    Moved(&'c dyn MovesClock),
    /// Its own, which is not known: what is asked for lasts for no time or for hours, and no times are compared.
    Own,
}

/// Tries so many sequences, unless the environment says otherwise, and reports the first that is not answered as the protocol says.
pub(super) fn any_sequence(store: &Subject<'_>, time: Time<'_>, runs: u32) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number(SEED).unwrap_or_else(fresh_seed);
    let cases = number(RUNS).map_or(runs, |runs| u32::try_from(runs).unwrap_or(u32::MAX));
    let config = Config { cases, failure_persistence: None, max_shrink_iters: SHRINKS, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng(seed));
    let tick = match time {
        Time::Moved(clock) => Some(clock.tick()),
        Time::Own => None,
    };
    let sequences = Sequential::new(
        STEPS.into(),
        move || Just(State::new(tick)).boxed(),
        Protocol::preconditions,
        Protocol::transitions,
        Protocol::apply,
    );
    let tried = runner.run(&sequences, |(state, transitions, seen)| {
        play(store, time, state, &transitions, seen.as_deref())
            .map_err(|mismatch| TestCaseError::fail(mismatch.expected))
    });
    match tried {
        Ok(()) => {}
        Err(TestError::Fail(reason, (state, transitions, _))) => {
            let transitions = without_needless(store, time, &state, transitions);
            report(
                store,
                time,
                &state,
                &transitions,
                &format!("{SEED}={seed} {RUNS}={cases}"),
                reason.message(),
            );
        }
        Err(TestError::Abort(reason)) => panic!("no sequence could be made up: {reason}"),
    }
}

/// Plays a sequence on records of its own, up to the first answer that is another.
fn play(
    store: &Subject<'_>,
    time: Time<'_>,
    mut state: State,
    transitions: &[Transition],
    seen: Option<&AtomicUsize>,
) -> Result<(), Mismatch> {
    let mut beside = Beside::new(store, time);
    for transition in transitions {
        // Tells what shortens the sequence how far it came.
        if let Some(seen) = seen {
            seen.fetch_add(1, Ordering::SeqCst);
        }
        state = Protocol::apply(state, transition);
        beside.apply(&state, transition)?;
    }
    for look in Transition::at_each_record() {
        state = Protocol::apply(state, &look);
        beside.apply(&state, &look)?;
    }
    Ok(())
}

/// Takes away each step without which the sequence still fails. `proptest-state-machine` tries each once, while the steps are not simple
/// yet, and never the last.
fn without_needless(
    store: &Subject<'_>,
    time: Time<'_>,
    state: &State,
    mut transitions: Vec<Transition>,
) -> Vec<Transition> {
    let mut shorter = true;
    while std::mem::take(&mut shorter) {
        for at in (0..transitions.len()).rev() {
            let mut without = transitions.clone();
            without.remove(at);
            if may_be_asked(state.clone(), &without)
                && play(store, time, state.clone(), &without, None).is_err()
            {
                transitions = without;
                shorter = true;
            }
        }
    }
    transitions
}

fn may_be_asked(mut state: State, transitions: &[Transition]) -> bool {
    transitions.iter().all(|transition| {
        let may = Protocol::preconditions(&state, transition);
        state = Protocol::apply(state.clone(), transition);
        may
    })
}

/// Plays the shortest sequence once more, so that the operations in the report are its own, and reports.
fn report(
    store: &Subject<'_>,
    time: Time<'_>,
    state: &State,
    transitions: &[Transition],
    repeated_by: &str,
    reason: &str,
) -> ! {
    store.forget_the_log();
    let mut list = format!("the shortest sequence that was found, of {}:\n", transitions.len());
    for (at, transition) in transitions.iter().enumerate() {
        let _ = writeln!(list, "    {}. {transition:?}", at + 1);
    }
    let _ = writeln!(list, "  it is found again with {repeated_by}");
    match play(store, time, state.clone(), transitions, None) {
        Err(mismatch) => store.broken_by(&mismatch.expected, &mismatch.found, &list),
        Ok(()) => store.broken_by(reason, &"the right answers, when the same was asked once more", &list),
    }
}

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn fresh_seed() -> u64 {
    let [a, b, c, d, ..] = *Token::fresh().as_bytes();
    u64::from(u32::from_le_bytes([a, b, c, d]))
}
