-- $1 id, $2 token, $3 fingerprint, $4 lease and $5 lifetime in microseconds. One row: 1 if there was no record, so that this one was made,
-- or 0 and the record as it is. 0 and no record: another session was faster than this statement's snapshot.
--
-- Most claims are of messages that are new or finished, and end here, at two thirds of what the whole statement costs the server. A
-- duplicate takes no lock and writes nothing. If a record that is there is to be taken over, `claim.sql` does that.
with granted as (
    insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, lease_at, prior)
    select $1, 1, $2, c.n, 1, $3, c.n, c.n + $5, c.n + $4, 0
    from (select {now} as n) as c
    on conflict (k) do nothing
    returning made_at
)
select
    case when g.made is null then 0 else {granted} end::smallint, coalesce(g.made, {now}), {now}, {record},
    -- The bytes of a result stay here if their time has passed, or if they belong to another payload.
    case when body_until > {now} and fp is not distinct from $3 then body end
from (select (select made_at from granted) as made) as g
left join {table} as t on t.k = $1
