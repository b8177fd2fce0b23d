-- $1 id, $2 token, $3 fingerprint, $4 lease and $5 lifetime in microseconds, $6 whether a lapsed holder waits for a person, $7 most tries.
-- For a record that is to be taken over, as `claim_new.sql` has found. No row: another session was faster than this statement's snapshot.
-- It is sent again, and sees what that one wrote.
--
-- `seen` is a plain read, and `stop` is its answer where nothing changes: a duplicate takes no lock and writes nothing. What may change is
-- decided by the condition of the upsert alone, on the row as it is once it is locked. It judges by one reading of the clock, which a wait
-- for the lock makes old: the last column but the record's says when the wait was over, and a lease that is short by it is asked for again.
with seen as materialized (
    select t.*, {now} as n from {table} as t where t.k = $1
), stop as materialized (
    select * from seen
    where drop_at > n and (
        st >= 2
        or st = 1 and (fp is distinct from $3 or token <> $2 and (coalesce(lease_at > n, true) or tries >= $7 or $6))
        or st = 0 and tries >= $7
    )
), granted as (
    insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, lease_at, prior)
    select $1, 1, $2, c.n, 1, $3, c.n, c.n + $5, c.n + $4, 0
    from (select {now} as n) as c
    where not exists (select from stop)
    on conflict (k) do update set {take_over}
    where t.drop_at <= excluded.made_at
        or t.st = 0 and t.tries < $7
        or t.st = 1 and t.fp is not distinct from excluded.fp
            and (t.token = excluded.token or t.lease_at <= excluded.made_at and t.tries < $7 and not $6)
    returning t.*
)
select {granted}, lease_at - $4, {now}, {record}, null::bytea from granted as t
union all
-- The bytes of a result stay here if their time has passed, or if they belong to another payload.
select 0::smallint, n, n, {record}, case when body_until > n and fp is not distinct from $3 then body end from stop as t
