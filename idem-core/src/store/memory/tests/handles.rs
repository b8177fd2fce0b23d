//! Clones and handles are one store.

use std::sync::Arc;

use super::{claim, completion, finish, grant, manual, replay};
use crate::machine::Recorded;
use crate::store::{Classed, Store, StoreClass};
use crate::{Body, MemoryStore};

#[test]
fn clones_and_handles_are_one_store() {
    let (store, _) = manual();
    let (clone, handle) = (store.clone(), store.handle());
    let handle_of_handle = handle.handle();
    grant(&store, &claim(1));
    assert_eq!(handle_of_handle.complete(&completion(1, b"result")).wait().unwrap(), Recorded::Stored);
    drop(store);
    assert_eq!(replay(&clone, 1), Ok(Some(Body::copy_from(b"result"))));
    // A handle is one more count on the same allocation.
    assert!(std::ptr::addr_eq(Arc::as_ptr(&handle), Arc::as_ptr(&handle_of_handle)));
    drop(clone);
    assert!(handle.inspect(&super::id(1)).wait().unwrap().is_some());
}

#[test]
fn it_says_what_it_is() {
    let store = MemoryStore::new();
    assert_eq!(store.class(), StoreClass::Volatile);
    assert_eq!(MemoryStore::CLASS, Some(StoreClass::Volatile));
    assert!(store.can_block());
    finish(&store, 1, b"a secret");
    let debug = format!("{store:?}");
    assert!(debug.contains("finished: 1") && !debug.contains("secret"), "{debug}");
}

#[test]
fn a_batch_is_judged_in_its_order() {
    use crate::machine::{Claim, Verdict};
    let (store, _) = manual();
    finish(&store, 7, b"result");
    let another = |number, by| Claim { token: super::token(by), ..claim(number) };
    let batch: Vec<_> =
        (0..200).map(|number| another(number, 1)).chain((0..200).map(|number| another(number, 2))).collect();
    let verdicts = store.claim_many(&batch).wait().unwrap();
    for (at, verdict) in verdicts.iter().enumerate() {
        match verdict {
            Verdict::Completed { .. } => assert!(at % 200 == 7),
            Verdict::Claimed(_) => assert!(at < 200),
            Verdict::InProgress { .. } => assert!(at >= 200),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(verdicts.len(), 400);
}
