-- $1 id, $2 token. The token stays, so that a release that is sent again is known.
with released as (
    update {table} as t set st = 0, lease_at = null, prior = null
    from (select {now} as n) as c
    where t.k = $1 and t.token = $2 and t.st = 1 and t.drop_at > c.n
    returning t.*
)
select 1::smallint, c.n, c.n, {record}, null::bytea from released as t, (select {now} as n) as c
union all
select 0::smallint, c.n, c.n, {record}, null::bytea
from (select {now} as n) as c
left join {table} as t on t.k = $1
where not exists (select from released)
