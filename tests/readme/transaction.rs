use idem::{SqliteStore, idempotent};
use rusqlite::{Connection, Transaction};

#[idempotent(key = "msg:<payment.id>", tx = tx)]
fn book(payment: &Payment, tx: &Transaction<'_>) -> Result<(), BoxError> {
    tx.execute("insert into booking (account, cents) values (?1, ?2)", (&payment.account, payment.cents))?;
    Ok(())
}

fn consume(payment: &Payment, connection: &mut Connection) -> Result<(), BoxError> {
    let tx = connection.transaction()?;
    book(payment, &tx)?;
    tx.commit()?; // the rows and the record, or neither
    Ok(()) // now the message may be acknowledged
}

fn set_up(connection: &Connection) -> Result<(), idem::StoreError> {
    SqliteStore::ensure_schema(connection) // once, at start-up
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

struct Payment {
    id: String,
    account: String,
    cents: u32,
}

#[test]
fn a_second_delivery_books_nothing() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("create table booking (account text, cents integer)").unwrap();
    set_up(&connection).unwrap();
    let payment = Payment { id: "8f14".into(), account: "alice".into(), cents: 1200 };
    for _ in 0..2 {
        consume(&payment, &mut connection).unwrap();
        let booked: u32 =
            connection.query_row("select sum(cents) from booking", [], |row| row.get(0)).unwrap();
        assert_eq!(booked, 1200);
    }
}
