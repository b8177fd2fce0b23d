-- As in `claim.sql`, for arrays of equal length, in which no id comes twice. Rows are locked in the order of their ids, as by every
-- other session, so that none waits for another that waits for it.
with asked as materialized (
    select * from unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::boolean[], $7::integer[])
        as a (k, token, fp, lease, keep, park, most)
), seen as materialized (
    select t.*, {now} as n, a.token as a_token, a.fp as a_fp, a.park, a.most from asked as a join {table} as t on t.k = a.k
), stop as materialized (
    select *, fp is not distinct from a_fp as same from seen
    where drop_at > n and (
        st >= 2
        or st = 1 and (
            fp is distinct from a_fp or token <> a_token and (coalesce(lease_at > n, true) or tries >= most or park)
        )
        or st = 0 and tries >= most
    )
), granted as (
    insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, lease_at, prior)
    select a.k, 1, a.token, c.n, 1, a.fp, c.n, c.n + a.keep, c.n + a.lease, 0
    from asked as a, (select {now} as n) as c
    where not exists (select from stop where stop.k = a.k)
    order by a.k
    on conflict (k) do update set {take_over}
    where t.drop_at <= excluded.made_at or (
        select t.st = 0 and t.tries < a.most
            or t.st = 1 and t.fp is not distinct from a.fp
                and (t.token = a.token or t.lease_at <= excluded.made_at and t.tries < a.most and not a.park)
        from asked as a where a.k = excluded.k
    )
    returning t.*
)
select {granted}, t.lease_at - a.lease, {now}, {record}, null::bytea, t.k from granted as t join asked as a on a.k = t.k
union all
select 0::smallint, n, n, {record}, case when body_until > n and same then body end, t.k from stop as t
