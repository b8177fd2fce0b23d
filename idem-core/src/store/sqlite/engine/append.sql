idem_record (st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body, room, id, k)
values (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, zeroblob(?15), ?14, 