delete from main.idem_record where id = ?1
