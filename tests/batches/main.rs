//! Annotated handlers in a batch: they stay as they are, and their claims and completions go together.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use idem::{
    Attempt, Error, ErrorKind, Handler, Idempotent, MemoryStore, Outcome, SqliteStore, Store, idempotent, key,
};

struct Payment {
    id: String,
    amount: u64,
}

fn payments(count: u64) -> Vec<Payment> {
    (0..count).map(|n| Payment { id: format!("p{n}"), amount: n }).collect()
}

#[idempotent(key = "msg:<payment.id>", store = store)]
async fn charge(payment: &Payment, store: &SqliteStore) -> Result<Outcome<u64>, Error> {
    Ok(payment.amount.into())
}

/// A file of its own for each test, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("idem-batches-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder of its own");
        Self(folder)
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(self.0.join("idem.db")).expect("a new file")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn handlers_of_a_batch_share_transactions() {
    let folder = Folder::new("transactions");
    let store = folder.open();
    let payments = payments(100);
    let run = || idem::batch(payments.iter().map(|payment| charge(payment, &store)), 16);

    for (payment, result) in payments.iter().zip(run().await) {
        assert_eq!(result.unwrap(), Outcome::Executed { value: payment.amount, recorded: true });
    }
    // Two as a rule, and a few more if the machine is so busy that a poll takes long: alone it were 200.
    assert!(store.commits() <= 20, "{}", store.commits());

    let before = store.commits();
    for (payment, result) in payments.iter().zip(run().await) {
        let outcome = result.unwrap();
        assert!(!outcome.is_executed());
        assert_eq!(outcome.into_value(), payment.amount);
    }
    assert_eq!(store.commits(), before, "a replay writes nothing");
}

#[test]
fn another_process_that_opens_the_file_finds_the_results_of_a_batch() {
    let folder = Folder::new("reopened");
    let payments = payments(20);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for executed in [true, false] {
        let store = folder.open();
        let results =
            runtime.block_on(idem::batch(payments.iter().map(|payment| charge(payment, &store)), 4));
        assert!(results.into_iter().all(|result| result.unwrap().is_executed() == executed));
    }
}

#[tokio::test]
async fn bodies_wait_beside_each_other_up_to_the_bound() {
    #[idempotent(key = "msg:<payment.id>", store = store)]
    async fn meet(
        payment: &Payment,
        store: &MemoryStore,
        barrier: &tokio::sync::Barrier,
        #[attempt] attempt: &Attempt,
    ) -> Result<u64, Error> {
        assert!(!attempt.is_lost());
        // Ends only once ten bodies are here at once.
        barrier.wait().await;
        Ok(payment.amount)
    }

    let (store, barrier) = (MemoryStore::new(), tokio::sync::Barrier::new(10));
    let payments = payments(40);
    let calls = payments.iter().map(|payment| meet(payment, &store, &barrier));
    let results =
        tokio::time::timeout(Duration::from_secs(60), idem::batch(calls, 10)).await.expect("ten at once");
    assert!(results.into_iter().zip(0..).all(|(result, amount)| result.unwrap() == amount));
}

#[tokio::test]
async fn a_batch_can_be_spawned_and_its_bodies_too() {
    #[idempotent(key = "msg:<payment.id>", store = store, scope = "batches.spawned")]
    async fn spawned(payment: Payment, store: MemoryStore) -> Result<u64, Error> {
        Ok(tokio::spawn(async move { payment.amount * 2 }).await.expect("a task that ends"))
    }

    let store = MemoryStore::new();
    let batch = idem::batch(payments(50).into_iter().map(move |payment| spawned(payment, store.clone())), 8);
    let results = tokio::spawn(batch).await.unwrap();
    assert!(results.into_iter().zip(0..).all(|(result, n)| result.unwrap() == 2 * n));
}

#[tokio::test]
async fn two_handlers_of_one_message_each_have_their_record() {
    #[idempotent(key = "msg:<payment.id>", store = store)]
    async fn mail(payment: &Payment, store: &MemoryStore, sent: &Mutex<Vec<u64>>) -> Result<(), Error> {
        sent.lock().unwrap().push(payment.amount);
        Ok(())
    }

    #[idempotent(key = "msg:<payment.id>", store = store)]
    async fn bill(payment: &Payment, store: &MemoryStore) -> Result<u64, Error> {
        Ok(payment.amount)
    }

    let (store, sent) = (MemoryStore::new(), Mutex::default());
    // The second message is delivered twice in one batch.
    let mut payments = payments(3);
    payments.push(Payment { id: "p1".into(), amount: 1 });
    let both = async |payment: &Payment| {
        let billed = bill(payment, &store).await?;
        mail(payment, &store, &sent).await?;
        Ok::<_, Error>(billed)
    };
    let results = idem::batch(payments.iter().map(both), 2).await;
    assert_eq!(results.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [0, 1, 2, 1]);
    assert_eq!(*sent.lock().unwrap(), [0, 1, 2]);
}

#[tokio::test]
async fn plain_functions_run_in_a_batch_by_themselves() {
    #[idempotent(key = "msg:<payment.id>", store = store)]
    fn plain(payment: &Payment, store: &MemoryStore) -> Result<u64, Error> {
        Ok(payment.amount)
    }

    let store = MemoryStore::new();
    let payments = payments(5);
    let (payments, store) = (&payments, &store);
    let results = idem::batch((0..5).map(|n| async move { plain(&payments[n], store) }), 2).await;
    assert!(results.into_iter().zip(0..).all(|(result, n)| result.unwrap() == n));
}

#[tokio::test]
async fn keys_of_entries_are_made_by_the_macro_and_their_errors_stay_with_their_messages() {
    let store = MemoryStore::new();
    let work = Idempotent::new(&store, Handler::new("batches.entries"));
    let mut payments = payments(3);
    payments[1].id.clear();
    let entries = payments.iter().map(|payment| (key!("msg:<payment.id>"), payment));
    let results = work.run_batch(entries, 2, async |payment: &Payment| Ok::<_, Error>(payment.amount)).await;
    assert_eq!(*results[0].as_ref().unwrap().value(), 0);
    assert_eq!(results[1].as_ref().unwrap_err().kind(), ErrorKind::MissingKeyPart);
    assert_eq!(*results[2].as_ref().unwrap().value(), 2);
}

#[test]
fn handles_to_one_store_have_one_identity_and_two_stores_have_two() {
    let folder = Folder::new("identity");
    let (memory, sqlite) = (MemoryStore::new(), folder.open());
    let (seen, none) = (idem::SeenSet::new(memory.clone()), idem::KeyOnly);
    let stores: [&dyn Store; 5] = [&memory, &sqlite, &seen, &none, &MemoryStore::new()];
    for (at, store) in stores.iter().enumerate() {
        assert_eq!(store.handle().identity(), store.identity());
        assert_eq!(std::sync::Arc::new(store.handle()).identity(), store.handle().identity());
        for other in &stores[at + 1..] {
            assert_ne!(store.identity(), other.identity());
        }
    }
}
