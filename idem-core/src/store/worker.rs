//! Threads that wait although they are workers of a tokio runtime.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tokio::runtime::{Handle, RuntimeFlavor};

use super::may_block;

/// Whether this thread waits for nothing else, and belongs to a runtime of several threads: what it waits for may need this very thread.
pub(crate) fn waits_within_a_runtime() -> bool {
    may_block()
        && Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Runs `wait`, which blocks the thread. If that is a worker, its tasks go on on another meanwhile.
pub(crate) fn blocking<T>(wait: impl FnOnce() -> T) -> T {
    if may_be_a_worker() { given_away(wait) } else { wait() }
}

/// In a `LocalSet`, tokio refuses to give the thread away, by a panic. It need not be: a thread that runs one is no worker.
fn given_away<T>(wait: impl FnOnce() -> T) -> T {
    let mut wait = Some(wait);
    let once = || wait.take().expect("it is run once")();
    let given = catch_unwind(AssertUnwindSafe(|| tokio::task::block_in_place(once)));
    match (given, wait) {
        (Ok(output), _) => output,
        (Err(_), Some(wait)) => wait(),
        (Err(panic), None) => resume_unwind(panic),
    }
}

/// Since tokio 1.54, it says so itself. Before, a thread outside of any task is none, and of others only a try can tell.
fn may_be_a_worker() -> bool {
    fn worker_index() -> Option<usize> {
        tokio::task::try_id().map(|_| 0)
    }
    let by_the_task = worker_index();
    {
        // Hides the function above, where tokio has one of that name.
        #[allow(
            clippy::wildcard_imports,
            unused_imports,
            reason = "a name that is written out has to be there"
        )]
        use tokio::runtime::*;
        worker_index().and(by_the_task).is_some()
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};
    use tokio::task::LocalSet;

    use super::*;

    fn one_worker() -> Runtime {
        Builder::new_multi_thread().worker_threads(1).build().unwrap()
    }

    #[test]
    fn a_worker_is_told_from_a_thread_that_runs_a_local_set() {
        let runtime = one_worker();
        assert!(runtime.block_on(runtime.spawn(async { may_be_a_worker() })).unwrap());
        assert!(!runtime.block_on(async { may_be_a_worker() }));
        let set = LocalSet::new();
        assert!(!runtime.block_on(set.run_until(async { may_be_a_worker() })));
        let local = set.run_until(async { tokio::task::spawn_local(async { may_be_a_worker() }).await });
        assert!(!runtime.block_on(local).unwrap());
        assert!(!may_be_a_worker());
    }

    #[test]
    fn where_a_thread_cannot_be_given_away_it_waits_all_the_same() {
        let runtime = one_worker();
        let local = async { tokio::task::spawn_local(async { given_away(|| 7) }).await };
        assert_eq!(runtime.block_on(LocalSet::new().run_until(local)).unwrap(), 7);
    }

    #[test]
    fn a_panic_of_what_is_waited_for_is_passed_on() {
        let runtime = one_worker();
        let task = runtime.spawn(async { given_away(|| panic!("as the test says")) });
        let panic = runtime.block_on(task).unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"as the test says"));
    }
}
