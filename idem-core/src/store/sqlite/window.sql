-- The `+ 0` keeps SQLite from planning anew for each limit.
select max(id), count(*), count(*) filter (where drop_at <= ?3 and fence < ?3)
from (select id, drop_at, fence from idem_record where id > ?1 order by id limit ?2 + 0)
