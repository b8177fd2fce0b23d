-- $1 id. Answers 0 and the record, if there is one.
select 0::smallint, c.n, c.n, {record}, case when body_until > c.n then body end
from (select {now} as n) as c
left join {table} as t on t.k = $1
