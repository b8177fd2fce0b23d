st = 1, token = excluded.token, fp = excluded.fp, lease_at = excluded.lease_at, drop_at = excluded.drop_at,
    done_at = null, body_until = null, body = null,
    fence = case
        when t.drop_at > excluded.made_at and t.st = 1 and t.token = excluded.token then t.fence
        else greatest(least(t.fence, 9223372036854775806) + 1, excluded.fence)
    end,
    tries = case
        when t.drop_at <= excluded.made_at then 1
        when t.st = 1 and t.token = excluded.token then t.tries
        else least(t.tries, 2147483646) + 1
    end,
    made_at = case when t.drop_at <= excluded.made_at then excluded.made_at else t.made_at end,
    prior = case
        when t.drop_at <= excluded.made_at then 0
        when t.st = 0 then 1
        when t.token = excluded.token then t.prior | 4
        else 2
    end
