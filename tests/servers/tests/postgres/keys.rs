//! Keys: which messages share a record, and what of them reaches the table.

use std::sync::atomic::{AtomicU32, Ordering};

use idem::machine::Verdict;
use idem::{Error, ErrorKind, Handler, Idempotent, Key, PostgresStore, Store, idempotent};

use crate::asks::{again, claim, complete, ending, granted, judged};
use crate::database::{database, migrated, number, open, run};

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f55_two_handlers_of_one_message_both_run_and_two_instances_of_one_do_not() {
    let builder = crate::database::fresh();
    let (here, there) = (open(&builder), open(&builder));
    let key = Key::trusted("msg:8f14", "a test's only message").expect("a key");
    let runs = AtomicU32::new(0);
    let body = || async { Ok::<_, Error>(runs.fetch_add(1, Ordering::Relaxed)) };
    let bill = Idempotent::new(&here, Handler::new("tests.bill"));
    let mail = Idempotent::new(&here, Handler::new("tests.mail"));
    let bill_elsewhere = Idempotent::new(&there, Handler::new("tests.bill"));
    run(async {
        assert!(bill.run(&key, body).await.expect("an outcome").is_executed());
        assert!(mail.run(&key, body).await.expect("an outcome").is_executed());
        assert!(!bill_elsewhere.run(&key, body).await.expect("an outcome").is_executed());
    });
    assert_eq!(runs.into_inner(), 2);
}

struct Message {
    id: Option<String>,
}

#[idempotent(key = "msg:<message.id>", store = store)]
async fn handle(message: &Message, store: &PostgresStore) -> Result<(), Error> {
    Ok(())
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f58_a_message_without_an_id_is_no_record_and_whitespace_is_kept() {
    let url = database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())));
    let handled = |id: Option<&str>| run(handle(&Message { id: id.map(str::to_owned) }, &store));
    for missing in [None, Some("")] {
        let error = handled(missing).expect_err("there is no key");
        assert_eq!(error.kind(), ErrorKind::MissingKeyPart);
    }
    assert_eq!(number(&url, "select count(*) from idem_record"), 0);
    for spaced in ["a", " a", "a ", "a\t"] {
        handled(Some(spaced)).expect("handled");
    }
    assert_eq!(number(&url, "select count(*) from idem_record"), 4);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f59_bytes_decide_and_no_collation() {
    let store = open(&crate::database::fresh());
    for text in ["é", "e\u{301}", "ß", "SS", "ss", "I", "i", "ı", "İ", "a", "a ", "A"] {
        granted(&store, &claim(text));
    }
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f60_hostile_keys_and_bodies_are_bytes() {
    let url = database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())));
    let long = "x".repeat(1 << 20);
    let texts =
        ["\0", "'; drop table idem_record; --", "{tag}", "\r\n", "*", ">", "$1", "\\x00", long.as_str()];
    for text in texts {
        let first = claim(text);
        let grant = granted(&store, &first);
        let body = [text.as_bytes(), &[0, 0xff, 0xc3, 0x28]].concat();
        complete(&store, &ending(&first, grant, &body));
        let Verdict::Completed { body: Some(found), .. } = judged(&store, &again(&first)) else {
            panic!("not replayed: {text:?}")
        };
        assert_eq!(found[..], body[..]);
    }
    assert_eq!(
        number(&url, "select count(*) from idem_record where octet_length(k) = 32"),
        i64::try_from(texts.len()).expect("a small number")
    );
    run(async { store.sweep(1).await }).expect("a count");
}
