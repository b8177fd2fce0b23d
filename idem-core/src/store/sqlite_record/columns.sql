    -- 0 open, 1 held, 2 done, 3 failed. "Expired" is never stored: it is computed from the clock at each look.
    st         integer not null check (st between 0 and 3),
    token      blob    not null check (length(token) = 16),
    fence      integer not null,
    tries      integer not null check (tries between 0 and 4294967295),
    fp         blob             check (fp is null or length(fp) = 16),
    -- All times are microseconds since the Unix epoch; the greatest integer is the end of time.
    made_at    integer not null check (made_at >= 0),
    drop_at    integer not null check (drop_at >= 0),
    lease_at   integer          check (lease_at >= 0),
    -- How the attempt before the holder's ended: 0 there was none, 1 released, 2 lapsed.
    prior      integer          check (prior between 0 and 2),
    done_at    integer          check (done_at >= 0),
    body_until integer          check (body_until >= 0),
    body       blob,
    -- A claim without the end of its lease would hold for ever.
    check ((st = 1) = (lease_at is not null) and (st = 1) = (prior is not null)),
    check ((st >= 2) = (done_at is not null) and (st >= 2) = (body_until is not null) and (st >= 2) = (body is not null))
) strict;
