update main.idem_record
set st = ?2, token = ?3, fence = ?4, tries = ?5, fp = ?6, made_at = ?7, drop_at = ?8,
    lease_at = ?9, prior = ?10, done_at = ?11, body_until = ?12, body = ?13
where id = ?1
