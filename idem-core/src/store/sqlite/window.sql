select max(id), count(*) from (select id from idem_record where id > ?1 order by id limit ?2)
