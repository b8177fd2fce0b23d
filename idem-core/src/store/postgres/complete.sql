-- $1 id, $2 token, $3 state, $4 result, $5 its time and $6 lifetime in microseconds. One row, or none where the record is not held by the
-- token. Most attempts end here, at a third of what the whole answer costs the server.
update {table} as t
set st = $3, body = $4, lease_at = null, prior = null, done_at = c.n, body_until = c.n + $5, drop_at = c.n + $6
from (select {now} as n) as c
where t.k = $1 and t.token = $2 and t.st = 1 and t.drop_at > c.n
returning 1
