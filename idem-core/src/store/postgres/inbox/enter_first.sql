-- As `enter.sql`, for a message that is new: most are, and this costs half as much. Nothing written: it may not be, or another transaction has
-- it. Answers only where a store was named, with which database this is: a row that is sent costs, and its number is known without.
insert into {table} as t (k, st, token, fence, tries, fp, made_at, drop_at, done_at, body_until, body)
select $1, 2, $2, c.n, 1, $3, c.n, c.n + $5, c.n, c.n + $4, $6
from (select {now} as n) as c
where {turn}
on conflict (k) do nothing
{returning}
