-- $1 the table's name: two programs that bring one table up to date do it one after the other.
select pg_advisory_xact_lock(hashtextextended('idem ' || $1, 0))
