-- As in `complete_or_see.sql`, for arrays of equal length, in which no id comes twice. Rows are locked in the order of their ids, as by every
-- other session. State 0 is a release: it leaves all else as it is, and makes no record anew, as an error does not.
with ended as materialized (
    select * from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[], $8::smallint[])
        as e (k, token, body, ttl, keep, fp, fence, st)
), locked as materialized (
    select t.k from {table} as t join ended as e on e.k = t.k
    where t.token = e.token and t.st = 1
    order by t.k
    for update of t
), stored as (
    update {table} as t
    set st = e.st, lease_at = null, prior = null, body = case e.st when 0 then t.body else e.body end,
        done_at = case e.st when 0 then t.done_at else c.n end,
        body_until = case e.st when 0 then t.body_until else c.n + e.ttl end,
        drop_at = case e.st when 0 then t.drop_at else c.n + e.keep end
    from locked, ended as e, (select {now} as n) as c
    where t.k = locked.k and e.k = t.k and t.token = e.token and t.st = 1 and t.drop_at > c.n
    returning t.k
), anew as (
    insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, done_at, body_until, body)
    select e.k, 2, e.token, e.fence, 1, e.fp, c.n, c.n + e.keep, c.n, c.n + e.ttl, e.body
    from ended as e, (select {now} as n) as c
    where e.st = 2 and not exists (select from stored where stored.k = e.k)
        and not exists (select from {table} as t where t.k = e.k and t.drop_at > c.n)
    order by e.k
    on conflict (k) do update
    set (st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body) = (
        excluded.st, excluded.token, excluded.fence, 1, excluded.fp, excluded.made_at, excluded.drop_at, null::bigint, null::smallint,
        excluded.done_at, excluded.body_until, excluded.body
    )
    where t.drop_at <= {now}
    returning t.k
)
select case when s.k is not null then 1 when w.k is not null then 2 else 0 end::smallint, c.n, c.n, {record}, null::bytea, e.k
from ended as e
cross join (select {now} as n) as c
left join stored as s on s.k = e.k
left join anew as w on w.k = e.k
left join {table} as t on t.k = e.k and (s.k is null or e.st = 0)
