-- $1 id, $2 token, $3 what stands in the place of a result that never came. One row, if the record was found.
--
-- A transaction that has written has a number, and it has written the record. So if there is none, the body has ended that transaction, and if
-- the record is there all the same, it was committed. The number is looked for first: to write gives one.
with own as materialized (
    select pg_current_xact_id_if_assigned() is not null as open
), gone as (
    delete from {table} as t using own where own.open and t.k = $1 and t.token = $2 returning 1
), parked as (
    update {table} as t set body = $3 from own where not own.open and t.k = $1 and t.token = $2 returning 1
)
select from gone union all select from parked
