-- $1 id, $2 token. One row, if the record is this attempt's.
select from {table} as t where t.k = $1 and t.token = $2
