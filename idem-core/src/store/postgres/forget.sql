-- $1 id, $2 whether a live claim goes too.
with gone as (
    delete from {table} as t using (select {now} as n) as c
    where t.k = $1 and t.drop_at > c.n and (t.st <> 1 or t.lease_at <= c.n or $2)
    returning c.n, t.*
)
select 1::smallint, n, n, {record}, case when body_until > n then body end from gone as t
union all
select 0::smallint, c.n, c.n, {record}, null::bytea
from (select {now} as n) as c
left join {table} as t on t.k = $1
where not exists (select from gone)
