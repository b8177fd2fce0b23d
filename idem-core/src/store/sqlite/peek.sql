select st, fp, drop_at, done_at, body_until, body from idem_record where k = ?1
union all select null, null, null, null, null, null
