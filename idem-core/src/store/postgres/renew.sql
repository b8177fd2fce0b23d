-- $1 id, $2 token, $3 lease in microseconds.
with renewed as (
    update {table} as t set lease_at = c.n + $3, drop_at = greatest(t.drop_at, c.n + $3)
    from (select {now} as n) as c
    where t.k = $1 and t.token = $2 and t.st = 1 and t.drop_at > c.n
    returning c.n
)
select case when r.n is null then 0 else 1 end::smallint, coalesce(r.n, c.n), {now}, {record}, null::bytea
from (select {now} as n) as c
left join renewed as r on true
left join {table} as t on t.k = $1 and r.n is null
