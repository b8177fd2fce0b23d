update main.idem_record set body = ?3 where k = ?1 and token = ?2
