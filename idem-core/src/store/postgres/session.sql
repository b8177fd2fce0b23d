-- What a connection of the store's own needs, whatever the defaults of the database and the role. $1 and $2 are milliseconds.
select
    pg_is_in_recovery(),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config(
        'synchronous_commit',
        case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end,
        false
    ),
    set_config('statement_timeout', $1, false),
    set_config('lock_timeout', $2, false)
