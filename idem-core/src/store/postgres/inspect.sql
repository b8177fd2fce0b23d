-- A replica would answer with the past.
select pg_is_in_recovery()::integer::smallint, c.n, c.n, {record}, case when body_until > n then body end
from (select {now} as n) as c
left join {table} as t on t.k = $1
