//! What cannot be a store is refused with the file and the cause, and stays as it is.

use std::path::Path;
use std::time::Duration;

use idem_core::machine::{Claim, Recorded, StateKind, Verdict};
use idem_core::{SqliteStore, Store, StoreError, StoreErrorKind};
use rusqlite::Connection;

use crate::asks::{Dir, KEEP, claim, clock, completion, granted, id, replayed};
#[cfg(unix)]
use crate::processes::Actor;

/// Opens `file`, which must fail with `kind`, name the file and leave it as it is.
fn refused(file: &Path, kind: StoreErrorKind, cause: &str) -> StoreError {
    let before = std::fs::read(file).ok();
    let error = SqliteStore::builder(file).busy_timeout(Duration::from_millis(20)).open().unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(text.contains(&file.display().to_string()) && text.contains(cause), "{text}");
    assert!(std::fs::read(file).ok() == before, "the file was changed");
    error
}

#[test]
fn a_file_that_is_no_database() {
    let dir = Dir::new();
    for content in [b"hello".to_vec(), vec![b'x'; 10_000]] {
        std::fs::write(dir.file(), content).unwrap();
        refused(&dir.file(), StoreErrorKind::Foreign, "not an SQLite database");
    }
}

#[test]
fn a_database_of_another_program() {
    let dir = Dir::new();
    let other = Connection::open(dir.file()).unwrap();
    other
        .execute_batch("create table orders (id integer primary key); insert into orders values (1)")
        .unwrap();
    drop(other);
    refused(&dir.file(), StoreErrorKind::Foreign, "belongs to another program");
}

#[test]
fn a_database_that_another_program_has_only_marked() {
    let dir = Dir::new();
    let other = Connection::open(dir.file()).unwrap();
    other.execute_batch("pragma application_id = 7; vacuum").unwrap();
    drop(other);
    refused(&dir.file(), StoreErrorKind::Foreign, "0x00000007");
}

#[test]
fn a_schema_of_a_newer_version() {
    let dir = Dir::new();
    drop(SqliteStore::open(dir.file()).unwrap());
    Connection::open(dir.file()).unwrap().pragma_update(None, "user_version", 4).unwrap();
    refused(&dir.file(), StoreErrorKind::Foreign, "version 4, made by a newer idem");
}

#[test]
fn a_schema_of_a_version_that_never_was() {
    let dir = Dir::new();
    drop(SqliteStore::open(dir.file()).unwrap());
    Connection::open(dir.file()).unwrap().pragma_update(None, "user_version", 0).unwrap();
    refused(&dir.file(), StoreErrorKind::Corrupt, "version 0");
}

/// A file of the first schema, with messages that have been handled. Its table had an index of its own, as the table beside others has.
fn of_the_first_schema(dir: &Dir) -> Vec<Claim> {
    let hand = Connection::open(dir.file()).unwrap();
    hand.pragma_update(None, "journal_mode", "wal").unwrap();
    hand.execute_batch(SqliteStore::schema()).unwrap();
    let guest = SqliteStore::builder(dir.file()).beside_other_tables().open().unwrap();
    let claims: Vec<_> = (0..100).map(|n| claim(&format!("key {n}"))).collect();
    for claim in &claims {
        let grant = granted(guest.claim(claim).wait());
        assert_eq!(guest.complete(&completion(claim, grant, b"receipt")).wait().unwrap(), Recorded::Stored);
    }
    drop(guest);
    hand.pragma_update(None, "application_id", 0x6964_656d).unwrap();
    hand.pragma_update(None, "user_version", 1).unwrap();
    claims
}

#[test]
fn a_schema_of_the_first_version_becomes_the_present_one_with_its_records() {
    let dir = Dir::new();
    let claims = of_the_first_schema(&dir);
    for _ in 0..2 {
        let store = SqliteStore::open(dir.file()).unwrap();
        for claim in &claims {
            assert_eq!(replayed(store.claim(claim).wait()), b"receipt");
        }
    }
    let store = SqliteStore::open(dir.file()).unwrap();
    assert_eq!(granted(store.claim(&claim("another")).wait()).tries, 1);
}

#[test]
fn a_schema_of_the_second_version_becomes_the_present_one_with_its_records() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let claims: Vec<_> = (0..100).map(|n| claim(&format!("key {n}"))).collect();
    let grants: Vec<_> = claims.iter().map(|claim| granted(store.claim(claim).wait())).collect();
    drop(store);
    let hand = Connection::open(dir.file()).unwrap();
    hand.execute_batch("alter table idem_record drop column room; pragma user_version = 2").unwrap();
    drop(hand);
    for (claim, grant) in claims.iter().zip(grants) {
        let store = SqliteStore::builder(dir.file()).max_bytes(1).open().unwrap();
        let recorded = store.complete(&completion(claim, grant, b"receipt")).wait().unwrap();
        assert_eq!(recorded, Recorded::Stored);
    }
    let store = SqliteStore::open(dir.file()).unwrap();
    for claim in &claims {
        assert_eq!(replayed(store.claim(claim).wait()), b"receipt");
    }
}

/// It is then held twice.
#[test]
fn a_schema_of_the_first_version_becomes_the_present_one_though_the_file_may_not_grow() {
    let dir = Dir::new();
    let claims = of_the_first_schema(&dir);
    let open = || SqliteStore::builder(dir.file()).max_bytes(1).open().unwrap();
    let store = open();
    assert_eq!(std::fs::metadata(dir.path().join("idem.db-wal")).unwrap().len(), 0, "the log is short again");
    assert_eq!(replayed(store.claim(&claims[99]).wait()), b"receipt");
    drop(store);
    // What the old table took is there for new records, and no more.
    let store = open();
    let error = (0..).find_map(|n| store.claim(&claim(&format!("another {n}"))).wait().err()).unwrap();
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
}

#[test]
fn an_empty_file_becomes_a_store() {
    let dir = Dir::new();
    std::fs::write(dir.file(), b"").unwrap();
    let store = SqliteStore::open(dir.file()).unwrap();
    assert_eq!(granted(store.claim(&claim("key")).wait()).tries, 1);
}

#[test]
fn a_directory_in_place_of_the_file() {
    let dir = Dir::new();
    refused(dir.path(), StoreErrorKind::Misconfigured, "is a directory");
}

#[test]
fn a_directory_that_is_not_there() {
    let dir = Dir::new();
    let file = dir.path().join("none/idem.db");
    refused(&file, StoreErrorKind::Misconfigured, "directory");
    assert!(!file.exists() && !dir.path().join("none").exists());
}

#[test]
fn a_name_that_means_memory_or_nothing() {
    for name in [":memory:", "", "/", ".."] {
        let error = SqliteStore::open(name).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
    }
}

/// As other libraries take them; here the file would have the URL for its name.
#[test]
fn a_url_instead_of_a_path() {
    for (url, scheme) in [
        ("sqlite://idem.db", "`sqlite:`"),
        ("sqlite:idem.db", "`sqlite:`"),
        ("file:idem.db?mode=rwc", "`file:`"),
    ] {
        let error = SqliteStore::open(url).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains(scheme), "{error}");
        assert!(!Path::new(url).exists(), "{url} was made");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_written_to() {
    // Nobody can make files there, not even root.
    let error = SqliteStore::open("/sys/kernel/idem.db").unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::ReadOnly, "{error}");
    assert!(error.to_string().contains("/sys/kernel/idem.db"), "{error}");
}

#[test]
fn a_file_that_another_connection_keeps_locked() {
    let dir = Dir::new();
    let other = Connection::open(dir.file()).unwrap();
    other.execute_batch("begin exclusive; create table t (x)").unwrap();
    refused(&dir.file(), StoreErrorKind::Unavailable, "another connection holds its lock");
}

#[test]
fn a_file_whose_schema_was_damaged() {
    let dir = Dir::new();
    drop(SqliteStore::open(dir.file()).unwrap());
    let mut bytes = std::fs::read(dir.file()).unwrap();
    bytes[512..].fill(0xa5);
    std::fs::write(dir.file(), bytes).unwrap();
    refused(&dir.file(), StoreErrorKind::Corrupt, "damaged");
}

/// Whichever page it is: of the records, of the index, of the keys that are read as the file is opened, or of how far these go.
#[test]
fn no_damaged_page_makes_a_known_message_a_new_one() {
    const PAGE: usize = 4_096;
    let dir = Dir::new();
    let claims = || (0..200).map(|n| claim(&format!("key {n}")));
    let first: Vec<_> = claims().collect();
    let store = SqliteStore::open(dir.file()).unwrap();
    let _ = store.claim_many(&first[..150]).wait().unwrap();
    store.index_all().unwrap();
    let _ = store.claim_many(&first[150..]).wait().unwrap();
    drop(store);
    let whole = std::fs::read(dir.file()).unwrap();
    for page in 1..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..][..PAGE].fill(0xa5);
        std::fs::write(dir.file(), bytes).unwrap();
        let errors: Vec<_> = match SqliteStore::open(dir.file()) {
            Err(error) => vec![error],
            Ok(store) => claims()
                .filter_map(|claim| match store.claim(&claim).wait() {
                    Ok(verdict) => {
                        assert!(matches!(verdict, Verdict::InProgress { .. }), "page {page}: {verdict:?}");
                        None
                    }
                    Err(error) => Some(error),
                })
                .collect(),
        };
        assert!(!errors.is_empty(), "page {page}");
        for error in errors {
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
            assert!(error.to_string().contains("idem.db"), "{error}");
        }
    }
}

#[test]
fn a_record_that_was_damaged_is_an_error_and_never_free() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let _ = granted(store.claim(&claim("key")).wait());
    let _ = granted(store.claim(&claim("other")).wait());
    let hand = Connection::open(dir.file()).unwrap();
    hand.pragma_update(None, "ignore_check_constraints", true).unwrap();
    hand.execute("update idem_record set lease_at = null where k = ?1", [id("key").as_bytes()]).unwrap();
    let error = store.claim(&claim("key")).wait().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(error.to_string().contains("lease_at"), "{error}");
    // The writer finds the same, for this record alone.
    let error = store.forget(&id("key"), false).wait().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert_eq!(store.inspect(&id("other")).wait().unwrap().unwrap().state, StateKind::Held);
}

#[test]
fn the_schema_refuses_a_claim_without_an_end() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let _ = granted(store.claim(&claim("key")).wait());
    let hand = Connection::open(dir.file()).unwrap();
    for change in [
        "lease_at = null",
        "prior = null",
        "st = 0",
        "st = 2",
        "st = 4",
        "token = x'00'",
        "k = x'00'",
        "drop_at = -1",
        "fence = 'x'",
        "body = x'00'",
    ] {
        let refused = hand.execute(&format!("update idem_record set {change}"), []).unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(rusqlite::ErrorCode::ConstraintViolation), "{change}");
    }
}

#[test]
fn a_full_file_refuses_with_its_name_and_goes_on_once_there_is_room() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).max_bytes(64 << 10).open().unwrap();
    let mut stored = Vec::new();
    let error = loop {
        let claim = claim(&format!("key {}", stored.len()));
        let recorded = store.claim(&claim).wait().and_then(|verdict| {
            store.complete(&completion(&claim, granted(Ok(verdict)), &[7; 4_000])).wait()
        });
        match recorded {
            Ok(recorded) => assert_eq!(recorded, Recorded::Stored),
            Err(error) => break error,
        }
        stored.push(claim);
        assert!(stored.len() < 100, "64 KiB hold no 400 KB");
    };
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    assert!(error.to_string().contains("idem.db") && error.to_string().contains("full"), "{error}");

    assert_eq!(replayed(store.claim(&claim("key 0")).wait()), [7; 4_000]);
    for claim in &stored[1..4] {
        let _ = store.forget(&claim.id, false).wait().unwrap();
    }
    let again = claim("again");
    let grant = granted(store.claim(&again).wait());
    assert_eq!(store.complete(&completion(&again, grant, &[8; 4_000])).wait().unwrap(), Recorded::Stored);
}

/// Not a full file, but a full disk: the first that has no room there is the log's index.
#[cfg(unix)]
#[test]
fn a_disk_without_room_for_the_logs_index() {
    let dir = Dir::new();
    drop(SqliteStore::open(dir.file()).unwrap());
    let before = std::fs::read(dir.file()).unwrap();
    assert!(before.len() < 24 << 10);
    let mut opens = Actor::start_short_of_room(48, "open", &dir.file());
    let said = opens.hears();
    opens.ends_well();
    assert!(said.starts_with("Unavailable: ") && said.contains("idem.db: "), "{said}");
    assert!(said.contains("`-shm` file cannot grow, as on a full disk"), "{said}");
    assert!(std::fs::read(dir.file()).unwrap() == before, "the file was changed");
}

#[test]
fn a_file_full_of_dead_records_makes_room_by_itself() {
    let dir = Dir::new();
    let clock = clock();
    let store = SqliteStore::builder(dir.file()).max_bytes(64 << 10).clock(clock.clone()).open().unwrap();
    let fill = |round: u32| {
        (0_u32..2_000)
            .find(|n| store.claim(&claim(&format!("{round}:{n}"))).wait().is_err())
            .expect("it is full at some time")
    };
    let first = fill(0);
    clock.advance(KEEP);
    // The first that finds no room may be refused: only then is it known that there is none.
    let again = (0..3).find_map(|n| store.claim(&claim(&format!("again {n}"))).wait().ok());
    assert!(matches!(again, Some(Verdict::Claimed(_))), "{again:?}");
    assert!(fill(1) > first / 2, "most of the room is there again");
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_file_it_names() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let _ = granted(store.claim(&claim("key")).wait());
    let link = dir.path().join("link.db");
    std::os::unix::fs::symlink(dir.file(), &link).unwrap();
    let linked = SqliteStore::open(link).unwrap();
    assert!(linked.inspect(&id("key")).wait().unwrap().is_some());
}
