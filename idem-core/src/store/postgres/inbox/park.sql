-- $1 id, $2 token, $3 what stands in the place of a result that never came. One row, if the transaction that wrote the record was committed.
update {table} as t set body = $3 where pg_current_xact_id_if_assigned() is null and t.k = $1 and t.token = $2
