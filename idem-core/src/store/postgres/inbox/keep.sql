-- $1 id, $2 token, $3 result.
update {table} as t set body = $3 where t.k = $1 and t.token = $2
