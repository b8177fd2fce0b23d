-- As in `complete.sql`, and what happens where that finds nothing to write. $7 fingerprint, $8 fence, $9 whether a record that is gone is
-- made anew. Answers 1 stored, 2 made anew, or 0 and the record as it is.
with stored as (
    update {table} as t
    set st = $3, body = $4, lease_at = null, prior = null, done_at = c.n, body_until = c.n + $5, drop_at = c.n + $6
    from (select {now} as n) as c
    where t.k = $1 and t.token = $2 and t.st = 1 and t.drop_at > c.n
    returning 1
), anew as (
    insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, done_at, body_until, body)
    select $1, $3, $2, $8, 1, $7, c.n, c.n + $6, c.n, c.n + $5, $4
    from (select {now} as n) as c
    where $9 and not exists (select from stored)
        and not exists (select from {table} as t where t.k = $1 and t.drop_at > c.n)
    on conflict (k) do update
    set (st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body) = (
        excluded.st, excluded.token, excluded.fence, 1, excluded.fp, excluded.made_at, excluded.drop_at, null::bigint, null::smallint,
        excluded.done_at, excluded.body_until, excluded.body
    )
    where t.drop_at <= {now}
    returning 2
)
select coalesce((select 1 from stored), (select 2 from anew), 0)::smallint, c.n, c.n, {record}, null::bytea
from (select {now} as n) as c
left join {table} as t on t.k = $1 and not exists (select from stored)
