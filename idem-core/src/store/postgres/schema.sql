-- Every column that an index covers never changes, so that no completion, renewal or release touches an index: each is a HOT update,
-- for which the pages keep room. Rows whose end has passed are found by walking the pages, a few at a time.
--
-- Wide columns of fixed length stand first, so that no byte is lost to alignment. A null takes none.
create table {table} (
    -- The order of grants: greater than any before, and not behind the clock in microseconds.
    fence      bigint   not null,
    -- All times are microseconds since the Unix epoch, by this server's clock. "Expired" is never stored: it is computed from the
    -- clock at each look.
    made_at    bigint   not null,
    drop_at    bigint   not null,
    lease_at   bigint,
    done_at    bigint,
    body_until bigint,
    tries      integer  not null,
    -- 0 open, 1 held, 2 done, 3 failed.
    st         smallint not null,
    -- How the attempt before the holder's ended: 0 there was none, 1 released, 2 lapsed; 4 more once the holder has asked again.
    prior      smallint,
    -- A digest. Readable keys are not stored.
    k          bytea    primary key,
    token      bytea    not null,
    fp         bytea,
    body       bytea
    -- No constraints: the server reads each anew for each statement that writes, at two microseconds or more. What idem never writes, a claim
    -- without the end of its lease for one, it refuses to read.
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);

comment on table {table} is 'idem records, version 1';
