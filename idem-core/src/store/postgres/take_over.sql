(st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body) = (
        -- One reading of the clock, once the row is locked: a claim that had to wait is not born old.
        select 1, excluded.token,
            case when mine then t.fence else greatest(least(t.fence, 9223372036854775806) + 1, n) end,
            case when gone then 1 when mine then t.tries else least(t.tries, 2147483646) + 1 end,
            excluded.fp,
            case when gone then n else t.made_at end,
            n + (excluded.drop_at - excluded.made_at),
            n + (excluded.lease_at - excluded.made_at),
            case when gone then 0 when mine then t.prior | 4 when t.st = 1 then 2 else 1 end,
            null::bigint, null::bigint, null::bytea
        from (select {now} as n) as c,
            lateral (select t.drop_at <= n as gone, t.drop_at > n and t.st = 1 and t.token = excluded.token as mine) as w
    )
