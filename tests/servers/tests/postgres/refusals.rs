//! Servers and tables that cannot be used: each an error of the right kind that names the place and the cure, and no password.

use std::sync::LazyLock;

use idem::{PostgresStore, PostgresStoreBuilder, StoreError, StoreErrorKind};
use idem_servers::{PostgresServer, free_port};

use crate::asks::{ask, claim, granted};
use crate::database::{database, execute, fresh_name, migrated, open, run};

const SECRET: &str = "s3cr3t-sentinel";

/// Ends with this process.
static STRICT: LazyLock<PostgresServer> = LazyLock::new(|| {
    let rules = "host all guarded 127.0.0.1/32 scram-sha-256\nhostssl all encrypted 127.0.0.1/32 trust\n\
                 host all encrypted 127.0.0.1/32 reject\nhost all banned 127.0.0.1/32 reject";
    let server = PostgresServer::start_with(&[], rules);
    let url = server.url("postgres");
    execute(
        &url,
        // Before version 15 all may make tables in `public`.
        &format!(
            "revoke create on schema public from public;
             create role guarded login password '{SECRET}'; create role encrypted login; create role banned login;
             create role crowd login connection limit 0; create role poor login;
             create role reader login; alter role reader set default_transaction_read_only = on;
             create role lazy login; alter role lazy set synchronous_commit = off;"
        ),
    );
    let _ = migrated(PostgresStore::builder(url.as_str()));
    execute(&url, "grant select, insert, update, delete on idem_record to reader, lazy, crowd");
    server
});

fn as_user(user: &str, password: &str) -> String {
    format!("postgres://{user}:{password}@127.0.0.1:{}/postgres", STRICT.port())
}

/// Opens what must not open.
fn refusal(builder: &PostgresStoreBuilder) -> StoreError {
    let error = run(builder.open()).expect_err("it opens");
    let shown = format!("{error} {error:?} {builder:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(error.to_string().starts_with("Postgres store"), "{error}");
    error
}

#[track_caller]
fn refused(builder: &PostgresStoreBuilder, kind: StoreErrorKind, words: &str) {
    let error = refusal(builder);
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

use StoreErrorKind::{Foreign, Full, Misconfigured, ReadOnly, Unavailable};

#[test]
fn a_malformed_url_is_refused_without_being_shown() {
    for url in [
        format!("mysql://user:{SECRET}@host/db"),
        format!("user:{SECRET}@host"),
        format!("postgres://user:{SECRET}@host:port/db"),
        format!("postgres://user:{SECRET}@host/db?sslmode=sometimes"),
    ] {
        refused(&PostgresStore::builder(url), Misconfigured, "postgres://user:password@host:port/database");
    }
}

#[test]
fn names_that_are_more_than_names_are_refused() {
    let at = |url: &str| PostgresStore::builder(url);
    refused(
        &at("postgres://h/d").table("a\"; drop table b; --"),
        Misconfigured,
        "cannot be the name of its table",
    );
    refused(&at("postgres://h/d").schema("a.b"), Misconfigured, "cannot be the name of its schema");
}

#[test]
fn a_server_that_is_not_there_is_unavailable() {
    let url = format!("postgres://user:{SECRET}@127.0.0.1:{}/db", free_port());
    refused(&PostgresStore::builder(url), Unavailable, "nobody listens there");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_wrong_password_is_refused_and_a_right_one_is_not() {
    refused(
        &PostgresStore::builder(as_user("guarded", &format!("not-{SECRET}"))),
        Misconfigured,
        "check user and password",
    );
    refused(&PostgresStore::builder(as_user("guarded", SECRET)), Misconfigured, "permission");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn an_unknown_user_is_refused() {
    refused(&PostgresStore::builder(as_user("banned", SECRET)), Misconfigured, "pg_hba");
    refused(&PostgresStore::builder(as_user("nobody", SECRET)), Misconfigured, "check the user");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn encryption_that_one_side_wants_and_the_other_lacks_is_told() {
    refused(&PostgresStore::builder(as_user("encrypted", SECRET)), Misconfigured, "sslmode=require");
    let url = format!("{}?sslmode=require", as_user("postgres", SECRET));
    refused(&PostgresStore::builder(url), Misconfigured, "turn a `tls-…` feature of sqlx on");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn an_unknown_database_is_refused() {
    refused(&PostgresStore::builder(STRICT.url("nowhere")), Misconfigured, "there is no such database");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_server_without_a_connection_left_is_unavailable() {
    refused(&PostgresStore::builder(as_user("crowd", SECRET)), Unavailable, "no connection left");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_user_without_permission_is_refused() {
    refused(
        &PostgresStore::builder(as_user("poor", SECRET)),
        Misconfigured,
        "grant select, insert, update and delete",
    );
    let migrating = run(PostgresStore::builder(as_user("poor", SECRET)).table("mine").migrate());
    let error = migrating.expect_err("the user may not make tables");
    assert_eq!(error.kind(), Misconfigured);
    assert!(error.to_string().contains("permission"), "{error}");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn sessions_that_only_read_are_refused() {
    refused(&PostgresStore::builder(as_user("reader", SECRET)), ReadOnly, "default_transaction_read_only");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn sessions_that_do_not_wait_for_the_disk_are_made_to_or_refused() {
    let _ = open(&PostgresStore::builder(as_user("lazy", SECRET)));
    let pool = run(sqlx::PgPool::connect(&as_user("lazy", SECRET))).expect("a pool");
    refused(&PostgresStore::builder(pool), Misconfigured, "synchronous_commit");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_missing_table_is_told_with_its_cure() {
    let url = database(&[]);
    let builder = PostgresStore::builder(url.as_str());
    refused(&builder, Misconfigured, "call `migrate` on the builder");
    refused(&builder.clone().schema("nowhere"), Misconfigured, "\"nowhere\".\"idem_record\"");
    let store = open(&migrated(builder));
    execute(&url, "drop table idem_record");
    let error = ask(&store, &claim("no table")).expect_err("there is no table");
    assert_eq!(error.kind(), Misconfigured);
    assert!(error.to_string().contains("the table is missing"), "{error}");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_table_of_another_version_or_of_something_else_is_refused_and_left_alone() {
    let url = database(&[]);
    let builder = migrated(PostgresStore::builder(url.as_str()));
    let comment = |text: &str| execute(&url, &format!("comment on table idem_record is '{text}'"));
    comment("idem records, version 0");
    refused(&builder, Misconfigured, "its schema has version 0");
    comment("idem records, version 999");
    refused(&builder, Foreign, "made by a newer idem");
    assert_eq!(run(builder.migrate()).expect_err("it is newer").kind(), Foreign);
    comment("our own table");
    refused(&builder, Foreign, "belongs to something else");
    execute(&url, "create view looks as select * from idem_record");
    refused(&builder.clone().table("looks"), Foreign, "this is no table");
    assert_eq!(run(builder.table("looks").migrate()).expect_err("it is a view").kind(), Foreign);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f49_a_table_in_which_one_key_could_have_two_records_is_refused() {
    let url = database(&[]);
    let builder = migrated(PostgresStore::builder(url.as_str()));
    execute(&url, "alter table idem_record drop constraint idem_record_pkey");
    refused(&builder, Misconfigured, "no unique index covers the column `k` alone");
    execute(&url, "create unique index on idem_record (k) where st > 1");
    refused(&builder, Misconfigured, "no unique index");
    execute(&url, "create unique index on idem_record (k)");
    granted(&open(&builder), &claim("one"));

    let by_time =
        PostgresStore::schema().replace("idem_record", "by_time").replace("primary key", "not null").replace(
            ") with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02)",
            ", unique (k, made_at)) partition by range (made_at)",
        );
    execute(&url, &by_time);
    refused(&builder.clone().table("by_time"), Misconfigured, "partition by `hash (k)`");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_table_that_is_empty_after_a_crash_is_refused() {
    let url = database(&[]);
    let builder = migrated(PostgresStore::builder(url.as_str()));
    execute(&url, "alter table idem_record set unlogged");
    refused(&builder, Misconfigured, "unlogged");

    let parts = PostgresStore::schema()
        .replace("idem_record", "parts")
        .replace(" with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02)", " partition by hash (k)");
    execute(&url, &parts);
    execute(
        &url,
        "create table part_0 partition of parts for values with (modulus 2, remainder 0);
         create unlogged table part_1 partition of parts for values with (modulus 2, remainder 1);",
    );
    let builder = builder.table("parts");
    refused(&builder, Misconfigured, "unlogged");
    execute(&url, "alter table part_1 set logged");
    granted(&open(&builder), &claim("one"));
}

/// What the server says in the middle of an operation, by a trigger that says it.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn what_the_server_says_later_is_told_by_its_meaning() {
    let url = database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())));
    for (code, kind, words) in [
        ("53100", Full, "disk is full"),
        ("53200", Unavailable, "lacks memory"),
        ("57014", Unavailable, "gave up"),
        ("55P03", Unavailable, "locked"),
        ("25006", Unavailable, "connect to the primary"),
        ("42501", Misconfigured, "lacks a permission"),
        ("40001", Unavailable, "in the way each time"),
        ("XX001", StoreErrorKind::Corrupt, "damaged"),
        ("58030", Unavailable, "the server failed"),
        ("22000", Misconfigured, "the server refused"),
    ] {
        execute(
            &url,
            &format!(
                "create or replace function say() returns trigger language plpgsql as
                     $$ begin raise exception 'as the test says' using errcode = '{code}', detail = '{SECRET}'; end $$;
                 create or replace trigger says before insert on idem_record execute function say();"
            ),
        );
        let error = ask(&store, &claim("said")).expect_err("the trigger says no");
        assert_eq!(error.kind(), kind, "{error}");
        let text = error.to_string();
        assert!(text.contains(words) && text.contains(code) && text.contains("idem_record"), "{text}");
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
    execute(&url, "drop trigger says on idem_record");
    granted(&store, &claim("said"));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn programs_that_start_at_once_make_one_table() {
    let url = database(&[]);
    let builder = PostgresStore::builder(url.as_str()).schema(fresh_name());
    run(async {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let builder = builder.clone();
                tokio::spawn(async move { builder.migrate().await })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic").expect("a table");
        }
    });
    granted(&open(&builder), &claim("one"));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn what_schema_prints_makes_the_table() {
    let url = database(&[]);
    execute(&url, &PostgresStore::schema());
    granted(&open(&PostgresStore::builder(url.as_str())), &claim("one"));
    let named = PostgresStore::builder(url.as_str()).schema("Apart").table("Records");
    execute(&url, &named.print_schema().expect("valid names"));
    granted(&open(&named), &claim("one"));
}
