-- Without a key there is nothing to write. A `where` would read the table that is written to, so SQLite would keep the row aside first, for a third more time.
insert or ignore into idem_record (k, st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body, id)
values (
    iif(
        not exists (select 1 from idem_key where start = substr(?1, 1, 8)) and ?14 > (select floor from idem_index)
            and (select id = ?14 - 1 and k = ?15 from idem_record order by id desc limit 1),
        ?1,
        null
    ),
    ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
)
