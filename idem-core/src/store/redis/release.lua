#!lua flags=allow-oom
-- Gives a claim back; token, fence and tries stay. ARGV: token.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local old = redis.call('GET', KEYS[1])
local go = false
local fp = 0
if old and #old > 0 and string.byte(old) % 32 >= 16 then fp = 16 end
if old and #old >= 49 + fp and math.floor(string.byte(old) / 32) == 5 then
  local flags = string.byte(old)
  go = now < struct.unpack('>I7', old, 36 + fp) and flags % 4 == 1 and string.sub(old, 2, 17) == ARGV[1]
  if go then
    redis.call('SET', KEYS[1], string.char(160 + fp) .. string.sub(old, 2, 42 + fp) .. struct.pack('>I7', 0), 'KEEPTTL')
  end
end
return struct.pack('>BI7', go and 82 or 114, now) .. ARGV[1] .. string.sub(old or '', 1, 72)
