#!lua flags=allow-oom
-- Extends a lease. ARGV: token, lease.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local last = 9007199254740991
local old = redis.call('GET', KEYS[1])
local go = false
local fp = 0
if old and #old > 0 and string.byte(old) % 32 >= 16 then fp = 16 end
if old and #old >= 49 + fp and math.floor(string.byte(old) / 32) == 5 then
  local flags = string.byte(old)
  local drop = struct.unpack('>I7', old, 36 + fp)
  go = now < drop and flags % 4 == 1 and string.sub(old, 2, 17) == ARGV[1]
  if go then
    local lease = math.min(now + ARGV[2], last)
    -- A record never ends before its lease.
    drop = math.max(drop, lease)
    redis.call('SET', KEYS[1], string.sub(old, 1, 35 + fp) .. struct.pack('>I7I7', drop, lease),
      -- As long as a claim's: see there.
      'PX', math.ceil(math.max(drop - now, 5000000) / 1000) + 1)
  end
end
return struct.pack('>BI7', go and 78 or 110, now) .. ARGV[1] .. string.sub(old or '', 1, 72)
