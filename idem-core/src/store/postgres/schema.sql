-- Every column that an index covers never changes, so that no completion, renewal or release touches an index: each is a HOT update,
-- for which the pages keep room. Rows whose end has passed are found by walking the pages, a few at a time.
--
-- Wide columns of fixed length stand first, so that no byte is lost to alignment. A null takes none.
create table {table} (
    -- The order of grants: greater than any before, and not behind the clock in microseconds.
    fence      bigint   not null,
    -- All times are microseconds since the Unix epoch, by this server's clock. "Expired" is never stored: it is computed from the
    -- clock at each look, when whatever had to be waited for has been waited for.
    made_at    bigint   not null check (made_at >= 0),
    drop_at    bigint   not null check (drop_at >= 0),
    lease_at   bigint            check (lease_at >= 0),
    done_at    bigint            check (done_at >= 0),
    body_until bigint            check (body_until >= 0),
    tries      integer  not null check (tries >= 1),
    -- 0 open, 1 held, 2 done, 3 failed.
    st         smallint not null check (st between 0 and 3),
    -- How the attempt before the holder's ended: 0 there was none, 1 released, 2 lapsed; 4 more once the holder has asked again.
    prior      smallint          check (prior in (0, 1, 2, 4, 5, 6)),
    -- A digest. Readable keys are not stored.
    k          bytea    primary key check (octet_length(k) = 32),
    token      bytea    not null check (octet_length(token) = 16),
    fp         bytea             check (octet_length(fp) = 16),
    body       bytea,
    -- A claim without the end of its lease would hold for ever.
    constraint held_until check ((st = 1) = (lease_at is not null) and (st = 1) = (prior is not null)),
    constraint kept_until check (
        (st >= 2) = (done_at is not null) and (st >= 2) = (body_until is not null) and (st >= 2) = (body is not null)
    )
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

comment on table {table} is 'idem records, version 1';
