-- $1 id, $2 token, $3 fingerprint, $4 time of the result and $5 lifetime in microseconds, $6 what stands in the place of the result, $7 the
-- record's number among locks, $8 (where it waits) how long it may. Answers 1 entered, 2 another transaction has the message, or 0 and the
-- record as it is.
--
-- Whoever may run takes a lock that lasts as long as the transaction. So a second one hears at once, or waits for as long as it wants to,
-- and neither an open transaction's row nor an error that would cost the caller its own transaction is in the way.
with seen as materialized (
    select t.*, {now} as n from {table} as t where t.k = $1
), turn as materialized (
    select {turn} as mine, was
    from (select current_setting('lock_timeout') as was offset 0) as setting
    where not exists (select from seen where drop_at > n and (st >= 2 or st = 1 and lease_at > n))
), entered as (
    insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, done_at, body_until, body)
    select $1, 2, $2, c.n, 1, $3, c.n, c.n + $5, c.n, c.n + $4, $6
    from turn, (select {now} as n) as c
    where turn.mine and not exists (select from seen)
    on conflict (k) do nothing
    returning 1
), said as materialized (
    select case when exists (select from entered) then 1 when (select not mine from turn) then 2 else 0 end::smallint as wrote
)
-- The lock's time is set back once all is written.
select wrote, c.n, c.n, {record}, case when body_until > c.n and fp is not distinct from $3 then body end, {identity},
    case when wrote >= 0 then (select {set_back} from turn) end
from said, (select {now} as n) as c
left join seen as t on true
