-- Parameters as in `claim_new.sql`. A row if there was no record, so that this one was made. No row: there is one, or was a moment ago.
--
-- Where no duplicate came lately: a statement that does not say what it found costs the server two thirds of one that does. A duplicate takes
-- no lock and writes nothing, and is then answered by `claim.sql`.
insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, lease_at, prior)
select $1, 1, $2, c.n, 1, $3, c.n, c.n + $5, c.n + $4, 0
from (select {now} as n) as c
on conflict (k) do nothing
returning {granted}, made_at, {now}
