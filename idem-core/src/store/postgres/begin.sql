begin isolation level read committed read write;
select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'
