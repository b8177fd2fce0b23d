-- Keys are digests, so an index of them is written all over: a page for each message, if each key is put there as it comes. Here
-- keys are put there many at a time and in their order, up to some row at a time; those of the rows behind it, the tail, each process reads as they come.
create table idem_key (
    -- The first bytes of a key. Others that begin with them are at once seen not to be it, in their rows, and there are hardly any.
    start  blob    not null check (length(start) = 8),
    record integer not null,
    primary key (start, record)
) strict, without rowid;

-- One row.
create table idem_index (
    -- The keys of all rows up to this one are in the index.
    upto   integer not null,
    -- Those of the rows up to this one are being put there, as far as their first byte is less than `byte`; 0 if none are.
    next   integer not null,
    byte   integer not null,
    -- No row up to this one is given its number again. A process that has read the tail up to some row looks behind it only.
    floor  integer not null
) strict;

insert into idem_index (upto, next, byte, floor) values (0, 0, 0, 0);

create trigger idem_last before delete on idem_record when old.id = (select max(id) from idem_record) begin
    update idem_index set floor = max(floor, old.id);
end;

create trigger idem_gone after delete on idem_record begin
    delete from idem_key where start = substr(old.k, 1, 8) and record = old.id;
end;
