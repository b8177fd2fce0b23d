delete from idem_record where id = ?1
