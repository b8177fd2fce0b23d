-- Bytes that a claim keeps for its result, so that the row does not grow when that comes: rows lie close to each other, and SQLite would have to move them.
alter table idem_record add column room blob;
