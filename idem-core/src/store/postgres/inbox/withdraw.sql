-- $1 id, $2 token.
delete from {table} as t where t.k = $1 and t.token = $2
