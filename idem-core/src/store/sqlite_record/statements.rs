//! What is asked of the table: that of the main file, and not one in another file that is attached, or in a temporary one. A record there would not
//! commit in one step with the rows.

/// Reads a record by its key.
pub(in crate::store) const FIND: &str = concat!(include_str!("find.sql"), "main.idem_record where k = ?1");
/// Writes a record if there is none of its name.
pub(in crate::store) const INSERT: &str = include_str!("insert.sql");
/// Writes a record over a row.
pub(in crate::store) const UPDATE: &str = include_str!("update.sql");
/// Deletes a row.
pub(in crate::store) const REMOVE: &str = include_str!("remove.sql");
/// Writes the result of an attempt whose record says *done* already.
pub(in crate::store) const KEEP: &str = include_str!("keep.sql");
/// Makes the table: rows in the order of their arrival, and an index on the key beside them. Keys are digests, so whatever is ordered by
/// them is written all over the file: that way it is one page of the index for each message, at its claim. The row itself, its
/// result and its end go to pages that the neighbours in time share.
pub(in crate::store) const SCHEMA: &str = concat!(
    "create table idem_record (\n",
    "    id         integer primary key,\n",
    "    k          blob    not null unique check (length(k) = 32),\n",
    include_str!("columns.sql"),
);
/// Whether there is anything of the table's name.
pub(in crate::store) const IS_THERE: &str =
    "select exists (select 1 from main.sqlite_schema where name = 'idem_record')";
/// These can be prepared if the table is the one that [`SCHEMA`] makes: they read and write all columns, and rely on the key being unique.
pub(in crate::store) const FITTING: [&str; 2] = [FIND, INSERT];
