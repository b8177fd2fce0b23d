//! Fields and methods with the names of things that differ per attempt, and are not.

use idem::{Key, idempotent};

use super::{Keyed, same_key};

struct Exam {
    attempt_id: u64,
    random: u64,
    timestamp: u64,
    now: u64,
    elapsed: u64,
    process: Process,
}

struct Process {
    id: u64,
}

impl Exam {
    /// The random part of its id, as ULIDs have one.
    const fn random(&self) -> u64 {
        self.random
    }

    const fn default(&self) -> u64 {
        self.now
    }

    const fn uuid(&self) -> u64 {
        self.attempt_id
    }

    const fn generate_id(&self) -> u64 {
        self.elapsed
    }
}

const EXAM: Exam =
    Exam { attempt_id: 1, random: 2, timestamp: 3, now: 4, elapsed: 5, process: Process { id: 6 } };

#[idempotent(store = none, key = "exam:<exam.attempt_id>")]
fn attempt_of_an_exam(exam: &Exam, #[key] key: &Key) -> Keyed {
    assert_eq!(exam.attempt_id, 1);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "exam:<exam.random>:<exam.timestamp>:<exam.now>:<exam.elapsed>")]
fn fields_named_like_calls(exam: &Exam, #[key] key: &Key) -> Keyed {
    assert_eq!(exam.timestamp, 3);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "exam:<exam.process.id>")]
fn process_of_the_business(exam: &Exam, #[key] key: &Key) -> Keyed {
    assert_eq!(exam.process.id, 6);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "exam:<exam.random()>:<exam.default()>:<exam.uuid()>:<exam.generate_id()>")]
fn methods_named_like_generators(exam: &Exam, #[key] key: &Key) -> Keyed {
    assert_eq!(exam.random() + exam.default() + exam.uuid() + exam.generate_id(), 12);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "exam:<new_v4>:<nanoid>:<thread_rng>")]
fn arguments_named_like_generators(new_v4: u64, nanoid: u64, thread_rng: u64, #[key] key: &Key) -> Keyed {
    assert_eq!(new_v4 + nanoid + thread_rng, 6);
    Ok(key.as_str().to_owned())
}

#[test]
fn names_alone_are_no_mistake() {
    same_key(|| attempt_of_an_exam(&EXAM), "exam:1");
    same_key(|| fields_named_like_calls(&EXAM), "exam:2:3:4:5");
    same_key(|| process_of_the_business(&EXAM), "exam:6");
    same_key(|| methods_named_like_generators(&EXAM), "exam:2:4:1:5");
    same_key(|| arguments_named_like_generators(1, 2, 3), "exam:1:2:3");
}
