-- $1 id, $2 token, $3 state, $4 result, $5 its time and $6 lifetime in microseconds. Writes one row, or none where the record is not held by
-- the token. Most attempts end here, at a quarter of what the whole answer costs the server: the clock is read where it is used, which costs
-- less than a join with one reading of it.
update {table} as t
set st = $3, body = $4, lease_at = null, prior = null, done_at = {now}, body_until = {now} + $5, drop_at = {now} + $6
where t.k = $1 and t.token = $2 and t.st = 1 and t.drop_at > {now}
