-- Looks at the pages from $1 on, before $2, and deletes up to $3 records there. A record whose fence is not yet in the past stays: without
-- it, the next grant's fence might not be greater. Answers how many were deleted, and how many pages there are.
with old as materialized (
    select t.tableoid, t.ctid from {table} as t
    where t.ctid >= format('(%s,0)', $1::bigint)::tid and t.ctid < format('(%s,0)', $2::bigint)::tid
        and t.drop_at <= (select {now}) and t.fence < (select {now})
    limit $3
    for update skip locked
), deleted as (
    delete from {table} as t using old where t.ctid = old.ctid and t.tableoid = old.tableoid
    returning 1
)
select (select count(*) from deleted), coalesce(
    (select max(pg_relation_size(relid)) from pg_partition_tree({regclass})), pg_relation_size({regclass})
) / current_setting('block_size')::bigint
