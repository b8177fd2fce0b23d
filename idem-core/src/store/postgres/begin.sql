begin isolation level read committed read write
