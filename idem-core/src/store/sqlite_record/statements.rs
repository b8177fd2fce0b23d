//! What is asked of the table: that of the main file, and not one in another file that is attached, or in a temporary one. A record there would not
//! commit in one step with the rows.

pub(in crate::store) const FIND: &str = include_str!("find.sql");
/// Writes a record if there is none of its name.
pub(in crate::store) const INSERT: &str = include_str!("insert.sql");
/// Writes a record over a row.
pub(in crate::store) const UPDATE: &str = include_str!("update.sql");
/// Deletes a row.
pub(in crate::store) const REMOVE: &str = include_str!("remove.sql");
/// Writes the result of an attempt whose record says *done* already.
pub(in crate::store) const KEEP: &str = include_str!("keep.sql");
/// Makes the table.
pub(in crate::store) const SCHEMA: &str = include_str!("schema.sql");
/// Whether there is anything of the table's name.
pub(in crate::store) const IS_THERE: &str =
    "select exists (select 1 from main.sqlite_schema where name = 'idem_record')";
/// These can be prepared if the table is the one that [`SCHEMA`] makes: they read and write all columns, and rely on the key being unique.
pub(in crate::store) const FITTING: [&str; 2] = [FIND, INSERT];
