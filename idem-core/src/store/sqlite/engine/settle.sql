st = ?4, drop_at = ?5, lease_at = null, prior = null, done_at = ?6, body_until = ?7, body = ?8
where token = ?2 and st = 1 and drop_at > ?3 and
