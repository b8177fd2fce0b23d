select st,fp,drop_at,done_at,body_until,body from idem_record where k=?
