-- $1 id, $2 the fence and $3 the lease's end of the record as it was, then the record as it is to be.
update {table} as t
set st = $4, token = $5, fence = $6, tries = $7, fp = $8, made_at = $9, drop_at = $10, lease_at = $11, prior = $12, done_at = $13,
    body_until = $14, body = $15
where t.k = $1 and t.fence = $2 and t.lease_at is not distinct from $3
