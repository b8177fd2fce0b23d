-- $1 the table's name.
select
    current_setting('server_version_num')::integer,
    pg_is_in_recovery(),
    current_setting('transaction_read_only')::boolean,
    current_setting('synchronous_commit'),
    c.relkind::text,
    -- Of a partitioned table, that of its partitions, in which the records are.
    case when exists (
        select from pg_partition_tree(c.oid) as p join pg_class as part on part.oid = p.relid where part.relpersistence <> 'p'
    ) then 'u' else c.relpersistence end::text,
    obj_description(c.oid, 'pg_class'),
    has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
        and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'),
    exists (
        select from pg_index as i join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null
            and i.indnkeyatts = 1 and a.attname = 'k'
    )
from (select to_regclass($1) as oid) as name
left join pg_class as c on c.oid = name.oid
