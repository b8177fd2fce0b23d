//! The attribute of idem. Users depend on the facade, `idem-rs`.
//!
//! Tokens become arguments (`args`, `item`: what was written), arguments a model (`check`, `model`: what it means, every
//! mistake found), and the model tokens again (`expand`, which cannot fail). If there was a mistake, `fallback` keeps the
//! rest of the program standing.
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;

mod args;
mod check;
mod diagnostics;
mod duration;
mod expand;
mod fallback;
mod item;
mod known;
mod lexemes;
mod message;
mod model;
mod names;
mod near;
mod outside;
mod part;
mod paths;
mod place;
mod rules;
mod shape;
mod template;
mod tokens;

/// Makes a message handler idempotent: a message that comes twice is worked on once.
///
/// The key is derived from the arguments before the body runs; a record under it is claimed in the store, the body runs, and its
/// `Ok` is recorded. A later delivery of the same message gets the recorded result, and the body does not run.
///
/// ```
/// use idem::{Key, MemoryStore, idempotent};
///
/// struct Payment {
///     id: String,
///     amount: u64,
/// }
///
/// #[idempotent(key = "msg:<message.id>")]
/// fn charge(message: Payment, #[key] key: &Key) -> Result<String, idem::Error> {
///     Ok(format!("{} for {key}", message.amount))
/// }
///
/// idem::install(MemoryStore::new());
/// let payment = |amount| Payment { id: "8f14".into(), amount };
/// assert_eq!(charge(payment(1200))?, "1200 for msg:8f14");
/// assert_eq!(charge(payment(9900))?, "1200 for msg:8f14");
/// # Ok::<(), idem::Error>(())
/// ```
///
/// # The key
///
/// A prefix (lower-case letters, digits, `_`, `.`, `-`) and a colon, then literal text and places: `<message.id>`,
/// `<pair.0>`, `<lines[0].sku>`, `<self.tenant>`, `<message.offset()>`. `<<` and `>>` stand for the characters. A place begins with
/// an argument, a name that an argument's pattern binds, or `self`, and at least one comes from the message. What stands between
/// two places begins with a sign, such as `:` or `/`. Of several templates, `key = ["evt:<event>", "msg:<message.id>"]`, each with a
/// prefix of its own, the first is used whose parts are all there. An index past a list's end panics, as it does everywhere, and at each
/// delivery: use one where a message with a shorter list has failed to parse.
///
/// A method in a place has to be a `const fn`: the compiler then proves that it reads no clock, counter or random source. For others,
/// and where the macro cannot name the type (`self`, `impl Trait`, parameters of an impl block), a person vouches for it:
/// `trust(message.offset(), reason = "the broker assigns it once, on append")`.
///
/// # Options
///
/// | option | meaning | if it is not written |
/// | --- | --- | --- |
/// | `key` | the template, or a list of templates | required |
/// | `store = expr` / `none` | where records live: an expression over arguments and `self` that is, or points to, a store; `none` remembers nothing and hands the key on | the store given to `idem::install` |
/// | `tx = place` | the transaction, an argument or a field of one, that the record is written in: it commits together with the handler's own rows, or neither does | off |
/// | `scope`, `scope_was = [..]` | the handler's name in the store, and its former names, which no other handler may have | module and function; required on methods and generic functions |
/// | `ttl` | how long the result is replayed | 7 days, or `redelivery` if that is longer |
/// | `keep` | how long the record still says *done* | 45 days |
/// | `redelivery` | the longest time after which the queue can still deliver; checked against `ttl` and `keep` | not checked |
/// | `lease`, `max_hold` | how long an attempt owns the message without a renewal, and with renewals. What blocks the only thread of the store's runtime for longer than a lease belongs in a plain `fn` or in `spawn_blocking` | 30 s, 15 min |
/// | `max_tries` | attempts before the message is parked | 5 |
/// | `payload(place, ..)` / `none` | what must be equal under one key; another payload is an error | the payload of what derives [`Message`](derive@Message); else nothing |
/// | `on_lapse = "rerun"` / `"park"` | what happens to a message whose worker fell silent; with `"park"`, an error or a panic of the body counts as that, as it may have come after the effect (but for a `final_error`) | `"rerun"` |
/// | `on_duplicate = "error"` / `wait("5s")` | what happens while another attempt runs | `"error"`, with the time to wait |
/// | `final_error = path` | a `fn(&E) -> bool`: the errors worth remembering, stored as results are: with `E: Serialize + DeserializeOwned`, and `#[serde(skip)]` on a variant that holds an `idem::Error` | none are |
/// | `mode = "lease_and_replay"` / `"at_most_once"` | what is promised when a worker dies | `"lease_and_replay"` |
/// | `require = "lossy"` / `"durable"` / `"transactional"` | the weakest store that will do; checked at compile time where the store's type says, else at the first call | any |
/// | `once_per = "…"` | says that one effect per such entity is meant | |
/// | `trust(place, reason = "…")`, `allow(rule, reason = "…")` | the escapes | |
/// | `crate = path` | where idem is, if it was renamed | `::idem` |
///
/// Durations are written as in `"30s"`, `"7d"`, `"1h 30m"`, `"500ms"`.
///
/// # In the handler's own transaction
///
/// With `tx = tx` the record is written where the handler writes, and commits with its rows: exactly once, in that database. A crash
/// at any moment leaves both or neither. The caller begins the transaction, commits it if the handler returned `Ok`, and only then acknowledges
/// the message.
///
/// ```
/// # type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// use idem::{SqliteStore, idempotent};
/// use rusqlite::{Connection, Transaction};
///
/// struct Payment {
///     id: String,
///     cents: u32,
/// }
///
/// #[idempotent(key = "msg:<payment.id>", tx = tx)]
/// fn book(payment: &Payment, tx: &Transaction<'_>) -> Result<(), BoxError> {
///     tx.execute("insert into booking (cents) values (?1)", [payment.cents])?;
///     Ok(())
/// }
///
/// let mut connection = Connection::open_in_memory()?;
/// connection.execute_batch("create table booking (cents integer not null)")?;
/// SqliteStore::ensure_schema(&connection)?;
/// for _delivery in 0..2 {
///     let tx = connection.transaction()?;
///     book(&Payment { id: "8f14".into(), cents: 1200 }, &tx)?;
///     tx.commit()?;
/// }
/// let booked: u32 = connection.query_row("select sum(cents) from booking", [], |row| row.get(0))?;
/// assert_eq!(booked, 1200);
/// # Ok::<(), BoxError>(())
/// ```
///
/// - An `async fn` takes `&mut sqlx::Transaction<'_, Postgres>` (feature `postgres`) or `&mut sqlx::Transaction<'_, Sqlite>` (feature
///   `sqlx-sqlite`), also one within another; a plain `fn` takes `&rusqlite::Transaction<'_>` or `&mut` (feature `sqlite`), or a `Savepoint` of it.
/// - The table is made at start-up: by [`PostgresStoreBuilder::migrate`], by [`SqliteRecords::ensure_schema`] with a connection of sqlx, by
///   `SqliteStore::ensure_schema` with one of rusqlite. The latter two make the same, and find each other's records.
/// - **What the database does not hold is not covered**: a mail or an HTTP call of the body happens once more if the transaction is rolled
///   back after it. Write such things into an outbox table, or send them with a `#[key]`.
/// - After `Err` nothing is remembered, even if the caller commits. An error that `final_error` chooses is remembered if the caller commits.
/// - After a panic of a plain `fn` nothing is remembered either (but for one with `#[track_caller]`); after one of an `async fn`, the
///   transaction must be rolled back.
/// - The body neither commits nor rolls back, except to savepoints of its own. In a transaction of SQLite that is over, a handler is refused.
/// - **Dropped midway, the transaction must be rolled back**, as it is if it is dropped too. Committed all the same, half of the work
///   would count as done.
/// - Two deliveries at once: in Postgres the second gets [`InProgress`] while the first one's transaction is open, or waits for it with
///   `on_duplicate = wait("5s")`. In SQLite it waits for the lock, as any writer does, for the connection's `busy_timeout`, and an `async fn` at
///   least for as long as `on_duplicate` says; then it gets [`Unavailable`]. A transaction that has read before it writes gets that at once if
///   another one writes meanwhile: begin it with `begin immediate`.
/// - In Postgres under `REPEATABLE READ` or `SERIALIZABLE` the second can get [`Unavailable`]: its snapshot is older than the first
///   one's commit. It is to be rolled back and run again as a whole.
/// - Records are in the table that the store makes if it is not told otherwise, in the transaction's database; `store = …` names a store
///   of that database with other names.
///
/// [`PostgresStoreBuilder::migrate`]: https://docs.rs/idem-rs/latest/idem/struct.PostgresStoreBuilder.html#method.migrate
/// [`SqliteRecords::ensure_schema`]: https://docs.rs/idem-rs/latest/idem/inbox/struct.SqliteRecords.html#method.ensure_schema
/// [`InProgress`]: https://docs.rs/idem-rs/latest/idem/enum.ErrorKind.html#variant.InProgress
/// [`Unavailable`]: https://docs.rs/idem-rs/latest/idem/enum.ErrorKind.html#variant.Unavailable
///
/// # Arguments that idem supplies
///
/// `#[key] key: &Key` and `#[attempt] attempt: &Attempt` are not part of the signature that callers see.
///
/// # Return types
///
/// `Result<T, E>` under any alias, with `T: Serialize + DeserializeOwned` and `E: From<idem::Error>`. `Result<Outcome<T>, E>` shows
/// whether the body ran.
///
/// # Where it goes
///
/// On `fn` and `async fn`, methods, methods of trait impls and default methods, generic functions. Inside of `#[async_trait]`, and on
/// functions whose body ends in `async move { .. }` or `Box::pin(async move { .. })`, the guard goes into the future. Making a future
/// derives no key and asks no store; that begins at its first poll.
///
/// # In review
///
/// With the feature `registry` or `testing` each handler is in a table, `idem::handlers()`, wherever it is written and whether or not it is
/// called; without them, nothing of that is compiled. `idem::testing::assert_keys_locked` compares the table with a checked-in file.
///
/// # Cancellation
///
/// Dropped while the claim is under way, an `async` handler leaves nothing behind. Dropped while its body runs, it leaves the claim
/// to its lease, as children of the body may still be at work. Dropped while the result is recorded, that goes on in the
/// background.
#[proc_macro_attribute]
pub fn idempotent(
    attribute: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expanded(attribute.into(), item.into()).into()
}

/// Says what the fields of a message are: one is its identity, some differ per delivery, the rest is payload.
///
/// ```
/// use idem::{Key, MemoryStore, Message, idempotent};
///
/// #[derive(Message)]
/// struct Payment {
///     #[message(id)]
///     id: String,
///     amount: u64,
///     #[message(per_delivery)]
///     delivery_tag: u64,
/// }
///
/// #[idempotent(key = "msg:<payment.id>")]
/// fn charge(payment: &Payment) -> Result<u64, idem::Error> {
///     Ok(payment.amount)
/// }
///
/// idem::install(MemoryStore::new());
/// let payment = |amount, delivery_tag| Payment { id: "8f14".into(), amount, delivery_tag };
/// assert_eq!(charge(&payment(1200, 1))?, 1200);
/// assert_eq!(charge(&payment(1200, 2))?, 1200); // delivered again
///
/// let error = charge(&payment(9900, 3)).unwrap_err(); // the same id, and another payload
/// assert_eq!(error.kind(), idem::ErrorKind::Mismatch);
/// # Ok::<(), idem::Error>(())
/// ```
///
/// # Fields
///
/// | mark | the field is | in a key | compared under one key |
/// | --- | --- | --- | --- |
/// | `#[message(id)]` | the message's identity: given once, the same at each delivery | yes | |
/// | `#[message(event)]` | the identity of the fact, which a republish keeps too | yes | |
/// | `#[message(per_delivery)]` | another one at each delivery | refused | no |
/// | `#[message(published_at)]` | when it was published | beside an identity | no |
/// | `#[message(skip)]` | not to be compared | beside an identity | no |
/// | `#[message(payload)]`, or none | payload | beside an identity | yes |
///
/// At least one field is an identity; in an enum, one of each variant. There may be one `id` and one `event`. A field without a mark whose
/// name is a queue's (`delivery_tag`, `receipt_handle`, `redelivered`) is refused, as each redelivery would look like another payload; if
/// the name lies, `#[message(payload)]` says so.
///
/// # What it does to handlers
///
/// `#[idempotent]` sees what a type says, not how its fields are called: behind `&`, `Box`, `Rc` and `Arc` too, and in an argument
/// such as `Json(payment): Json<Payment>`. In a generic function it is checked when the code is built, and not by `cargo check`.
///
/// The payload is compared by value, in the order of its declaration, as [`payload(…)`](macro@idempotent) would: its fields have to
/// be `Serialize`. A `HashSet` is refused, as serde writes it as a list in random order; that of a `HashMap` does not count. Names count as serde has them for a field or variant of its own (`#[serde(rename = "…")]`), the name of the type
/// does not. What serde does not read, with `#[serde(skip)]`, is not compared, and `with`, `serialize_with` and
/// `skip_serializing_if` are followed. `payload = none` on a handler compares nothing.
///
/// `#[message(crate = path)]` on the type says where idem is, if it was renamed.
#[proc_macro_derive(Message, attributes(message))]
pub fn message(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    message::derive(item.into()).into()
}

/// Makes a type a part of keys, so that a place such as `<message.order_id>` can read it.
///
/// - **A newtype** has the text of what it holds. `PhantomData` beside it does not count.
/// - **A struct of named fields** has the texts of all of them, joined by `/` in the order of their declaration. In all but the last, `~`
///   and `/` are written `~0` and `~1`, so no two different values have one text. If one of them is missing (`None`, an empty
///   text, a nil UUID), the whole is, and the body does not run.
/// - **An enum without data** has its variant's name in snake case, or what `#[key(rename = "…")]` says.
///
/// ```
/// use idem::{KeyPart, MemoryStore, Key, idempotent};
///
/// #[derive(KeyPart)]
/// struct OrderId(u64);
///
/// #[derive(KeyPart)]
/// enum Step {
///     Paid,
///     #[key(rename = "sent")]
///     HandedToTheCarrier,
/// }
///
/// #[derive(KeyPart)]
/// struct Event {
///     order: OrderId,
///     step: Step,
/// }
///
/// #[idempotent(key = "order:<event>")]
/// fn notify(event: Event, #[key] key: &Key) -> Result<String, idem::Error> {
///     Ok(key.to_string())
/// }
///
/// idem::install(MemoryStore::new());
/// assert_eq!(notify(Event { order: OrderId(7), step: Step::Paid })?, "order:7/paid");
/// assert_eq!(notify(Event { order: OrderId(7), step: Step::HandedToTheCarrier })?, "order:7/sent");
/// # Ok::<(), idem::Error>(())
/// ```
///
/// The names of variants and the order of fields are part of every key that was ever made of them. Renaming a variant changes its
/// keys, unless `rename` keeps the old text; so does moving a field.
///
/// Type parameters are asked for what the fields need: `struct Id<T> { value: T }` is a part where `T` is one. If idem was renamed,
/// `#[key(crate = ::once)]` on the type says where it is.
#[proc_macro_derive(KeyPart, attributes(key))]
pub fn key_part(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    part::derived(input.into()).into()
}

/// Makes a [`Key`] outside of a handler, by the same rules as `#[idempotent]`: for the API client that passes it on, the outbox that
/// stores it, the caller that puts it into a message.
///
/// ```
/// use idem::{Key, key};
///
/// struct Order {
///     id: u64,
///     lines: Vec<String>,
/// }
///
/// let order = Order { id: 7, lines: vec!["a4 paper".into()] };
/// let key: Key = key!("order:<order.id>")?;
/// assert_eq!(key.as_str(), "order:7");
/// assert_eq!(key!("line:<order.id>:<order.lines[0]>")?.as_str(), "line:7:a4%20paper");
/// # Ok::<(), idem::Error>(())
/// ```
///
/// It is an expression of type `Result<Key, Error>`: a part that is missing, or a text of more than 255 bytes, is an error. The
/// template is that of `key = "…"` there, prefix and places, and so is a list of templates, of which the first with all its parts is used:
/// `key!(["evt:<event_id>", "msg:<message.id>"])`.
///
/// # Places
///
/// A place begins with a variable, or with `self`. The macro sees neither their types nor where their values came from, so
///
/// - **a value made by the attempt is not seen** if it was made before: `let id = Uuid::new_v4(); key!("msg:<id>")`. In the body of an
///   `#[idempotent]` function that is refused, as the attribute follows what is bound there; elsewhere, and where the value comes out of
///   another function, nobody looks. Inside of a place, calls that give another value on every attempt are refused, as everywhere.
/// - **a method** in a place needs the type that it is a method of, beside the template. Then the compiler proves of a `const fn` that it
///   reads no clock, counter or random source; the value is read through a reference of just that type:
///   `key!("order:<order.number()>", order: &Order)`, or `self: &Order` (not `&Self`). Where the type cannot be named, or the method is not `const`, a person vouches for it:
///   `key!("order:<order.number()>", trust(order.number(), reason = "assigned once, by the shop"))`.
///
/// If idem was renamed, `crate = ::once` says where it is.
///
/// # Errors
/// Those of the expression: a missing part, a text that is too long.
///
/// [`Key`]: https://docs.rs/idem-rs/latest/idem/struct.Key.html
#[proc_macro]
pub fn key(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    outside::key(input.into()).into()
}

fn expanded(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut cx = diagnostics::Diagnostics::default();
    let args = args::Args::parse(attribute, &mut cx);
    let parsed = match item::Item::parse(item.clone()) {
        Ok(parsed) => parsed,
        Err(other) => {
            check::not_a_function(&other, &mut cx);
            return item.into_iter().chain(cx.into_tokens()).collect();
        }
    };
    match check::function(&args, parsed, &mut cx) {
        Some(function) if cx.is_empty() => expand::function(&function),
        // Read once more: the model has used it up, and those who made no mistake should not wait for this.
        _ => {
            let standing = item::Item::parse(item).map(|parsed| fallback::function(&parsed));
            cx.into_tokens().into_iter().chain(standing.unwrap_or_default()).collect()
        }
    }
}

#[cfg(test)]
mod tests;
