-- What a connection of the store's own needs, whatever the defaults of the database and the role. $1 and $2 are milliseconds. All statements
-- find rows by the key or the page, so that a plan which knows the arguments is no better, and five of each are planned until the server sees it.
select
    pg_is_in_recovery(),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config(
        'synchronous_commit',
        case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end,
        false
    ),
    set_config('statement_timeout', $1, false),
    set_config('lock_timeout', $2, false)
