-- $1 id, $2 token, $3 error, $4 its time in microseconds.
update {table} as t set st = 3, body = $3, done_at = c.n, body_until = c.n + $4, drop_at = c.n + $4
from (select {now} as n) as c
where t.k = $1 and t.token = $2
