begin isolation level read committed;
select
    set_config(
        'synchronous_commit',
        case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end,
        true
    ),
    set_config('statement_timeout', '{statement_timeout}', true),
    set_config('lock_timeout', '{lock_timeout}', true)
