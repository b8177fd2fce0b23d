-- Looks at a record. ARGV: an echo.
local now = redis.call('TIME')
return struct.pack('>BI7', 105, now[1] * 1000000 + now[2]) .. ARGV[1] .. (redis.call('GET', KEYS[1]) or '')
