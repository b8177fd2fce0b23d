-- A record whose fence is not yet in the past stays: without it, the next grant's fence might not be greater.
delete from idem_record
where id in (
    select id from idem_record
    where id > ?1 and id <= ?2 and drop_at <= ?3 and fence < ?3
    order by id
    limit ?4 + 0
)
