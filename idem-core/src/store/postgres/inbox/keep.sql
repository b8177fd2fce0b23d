-- $1 id, $2 token, $3 result. If the record is not there it fails, and with it the transaction: its rows must not commit alone.
with kept as (update {table} as t set body = $3 where t.k = $1 and t.token = $2 returning 1)
select 1 / (select count(*) from kept)::integer
