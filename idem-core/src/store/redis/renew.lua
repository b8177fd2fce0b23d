#!lua flags=allow-oom
-- Extends a lease. ARGV: token, lease.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local last = 9007199254740991
local old = redis.call('GET', KEYS[1])
local go = false
if old and #old >= 49 and math.floor(string.byte(old) / 32) == 5 then
  local flags, tries, fence, made, drop = struct.unpack('>BI4I7I7I7', old)
  go = now < drop and flags % 4 == 1 and string.sub(old, 34, 49) == ARGV[1]
  if go then
    local lease = math.min(now + ARGV[2], last)
    -- A record never ends before its lease.
    drop = math.max(drop, lease)
    redis.call('SET', KEYS[1],
      struct.pack('>BI4I7I7I7I7', flags, tries, fence, made, drop, lease) .. string.sub(old, 34),
      'PX', math.ceil((drop - now) / 1000) + 1)
  end
end
return struct.pack('>BI7', go and 78 or 110, now) .. ARGV[1] .. string.sub(old or '', 1, 72)
