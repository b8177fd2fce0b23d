//! The clocks: instants that do not wrap, and timers that run when they are due.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use idem_core::{Clock, ManualClock, Timestamp};
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(micros)
}

#[test]
fn a_timestamp_stops_at_the_end_of_time_and_never_wraps() {
    assert_eq!(at(5).after(Duration::from_micros(7)), at(12));
    assert_eq!(at(5).after(Duration::from_nanos(999)), at(5));
    assert_eq!(at(5).after(Duration::from_nanos(1_999)), at(6));
    assert_eq!(at(u64::MAX - 1).after(Duration::from_micros(1)), Timestamp::MAX);
    assert_eq!(at(u64::MAX - 1).after(Duration::from_micros(2)), Timestamp::MAX);
    assert_eq!(Timestamp::ZERO.after(Duration::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::MAX.after(Duration::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::MAX.since(Timestamp::ZERO), Duration::from_micros(u64::MAX));
}

#[test]
fn what_lies_ahead_was_no_time_ago() {
    assert_eq!(at(5).since(at(2)), Duration::from_micros(3));
    assert_eq!(at(5).since(at(5)), Duration::ZERO);
    assert_eq!(at(5).since(at(6)), Duration::ZERO);
    assert_eq!(Timestamp::ZERO.since(Timestamp::MAX), Duration::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn later_is_never_earlier(start: u64, secs: u64, nanos in 0..1_000_000_000_u32) {
        let later = at(start).after(Duration::new(secs, nanos));
        prop_assert!(later >= at(start));
        prop_assert!(later.since(at(start)) <= Duration::new(secs, nanos));
        prop_assert_eq!(at(start).since(later), Duration::ZERO);
    }
}

/// What timers wrote down: their name, and the clock's instant in seconds.
type Log = Arc<Mutex<Vec<(&'static str, u64)>>>;

fn note(clock: &ManualClock, log: &Log, name: &'static str) -> impl FnOnce() + Send + 'static {
    let (clock, log) = (clock.clone(), log.clone());
    move || log.lock().unwrap().push((name, clock.now().as_micros() / 1_000_000))
}

#[test]
fn a_manual_clock_runs_timers_in_order_and_at_their_instants() {
    let (manual, log) = (ManualClock::at(at(0)), Log::default());
    let clock = Clock::from(manual.clone());
    for (name, delay) in [("third", 30), ("first", 10), ("second", 20), ("also second", 20), ("never", 61)] {
        clock.after(delay * SECOND, note(&manual, &log, name));
    }
    manual.advance(9 * SECOND);
    assert!(log.lock().unwrap().is_empty());
    manual.advance(SECOND);
    assert_eq!(*log.lock().unwrap(), [("first", 10)]);
    manual.advance(50 * SECOND);
    assert_eq!(*log.lock().unwrap(), [("first", 10), ("second", 20), ("also second", 20), ("third", 30)]);
    assert_eq!(clock.now(), at(60_000_000));
    assert_eq!(manual.timers(), 1);
}

#[test]
fn a_timer_set_by_a_timer_runs_on_the_same_way() {
    let (manual, log) = (ManualClock::at(at(0)), Log::default());
    let clock = Clock::from(manual.clone());
    let again = note(&manual, &log, "second");
    let (first, inner) = (note(&manual, &log, "first"), clock.clone());
    clock.after(10 * SECOND, move || {
        first();
        inner.after(10 * SECOND, again);
    });
    clock.after(25 * SECOND, note(&manual, &log, "third"));
    manual.advance(60 * SECOND);
    assert_eq!(*log.lock().unwrap(), [("first", 10), ("second", 20), ("third", 25)]);
}

#[test]
fn a_timer_without_delay_waits_for_the_clock_to_be_moved() {
    let (manual, log) = (ManualClock::at(at(0)), Log::default());
    Clock::from(manual.clone()).after(Duration::ZERO, note(&manual, &log, "now"));
    assert!(log.lock().unwrap().is_empty());
    manual.advance(Duration::ZERO);
    assert_eq!(*log.lock().unwrap(), [("now", 0)]);
}

#[test]
fn a_manual_clock_set_back_runs_no_timer_and_stands_there() {
    let (manual, log) = (ManualClock::at(at(50_000_000)), Log::default());
    Clock::from(manual.clone()).after(10 * SECOND, note(&manual, &log, "later"));
    manual.advance_to(at(20_000_000));
    assert_eq!(manual.now(), at(20_000_000));
    assert!(log.lock().unwrap().is_empty());
    manual.advance(40 * SECOND);
    assert_eq!(*log.lock().unwrap(), [("later", 60)]);
}

#[test]
fn a_manual_clock_moves_for_all_its_clones() {
    let manual = ManualClock::new();
    let (clone, clock) = (manual.clone(), Clock::from(manual.clone()));
    manual.advance(30 * SECOND);
    assert_eq!(clone.now(), at(31_000_000));
    assert_eq!(clock.clone().now(), at(31_000_000));
}

#[test]
fn the_monotonic_clock_never_stands_at_its_epoch_and_never_goes_back() {
    let clock = Clock::monotonic();
    let mut last = clock.now();
    assert!(last >= at(1_000_000));
    for _ in 0..100_000 {
        let now = clock.now();
        assert!(now >= last);
        last = now;
    }
}

#[test]
fn the_wall_clock_counts_from_the_unix_epoch() {
    let micros = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap();
    let (before, now, after) = (micros(), Clock::wall().now(), micros());
    assert!(at(before) <= now && now <= at(after));
}

/// Waits for what a background timer sends. The limit only ends a test that has failed.
fn heard<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(30 * SECOND).expect("the timer did not run")
}

#[test]
fn background_timers_run_when_they_are_due_and_the_sooner_first() {
    for clock in [Clock::monotonic(), Clock::wall()] {
        let (sender, receiver) = mpsc::channel();
        // When each is due lies between these two, however slow this thread is.
        let due: Vec<_> = [60, 20, 40, 0]
            .map(Duration::from_millis)
            .into_iter()
            .enumerate()
            .map(|(timer, delay)| {
                let sender = sender.clone();
                let earliest = Instant::now() + delay;
                clock.after(delay, move || sender.send((timer, Instant::now())).unwrap());
                (earliest, Instant::now() + delay)
            })
            .collect();
        let ran: Vec<_> = due.iter().map(|_| heard(&receiver)).collect();
        for (place, (timer, instant)) in ran.iter().enumerate() {
            let (earliest, _) = due[*timer];
            assert!(*instant >= earliest, "timer {timer} ran too early");
            for (later, _) in &ran[place..] {
                assert!(due[*later].1 >= earliest, "timer {later} was due before timer {timer}");
            }
        }
    }
}

#[test]
fn a_timer_past_the_end_of_time_does_not_disturb_the_others() {
    let (sender, receiver) = mpsc::channel();
    let never = sender.clone();
    Clock::monotonic().after(Duration::MAX, move || never.send("never").unwrap());
    Clock::monotonic().after(Duration::ZERO, move || sender.send("now").unwrap());
    assert_eq!(heard(&receiver), "now");
}

#[test]
fn a_task_that_panics_does_not_stop_the_background_thread() {
    let (sender, receiver) = mpsc::channel();
    let clock = Clock::monotonic();
    let thread = {
        let sender = sender.clone();
        clock.after(Duration::ZERO, move || sender.send(std::thread::current().id()).unwrap());
        heard(&receiver)
    };
    let last_words = sender.clone();
    clock.after(Duration::ZERO, move || {
        last_words.send(std::thread::current().id()).unwrap();
        panic!("a task of this test panics");
    });
    assert_eq!(heard(&receiver), thread);
    clock.after(Duration::from_millis(1), move || sender.send(std::thread::current().id()).unwrap());
    assert_eq!(heard(&receiver), thread);
}
