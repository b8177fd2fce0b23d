-- $1 id. The record, if there is one; nothing from a replica, which would answer with the past. Before a claim, in a storm of duplicates: the
-- least that can be asked.
select 0::smallint, {now}, 0::bigint, {record}, body from {table} as t where t.k = $1 and not pg_is_in_recovery()
