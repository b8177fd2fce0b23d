#!lua flags=allow-oom
-- Records the end of an attempt. ARGV: token and fingerprint in one, '2' done or '3' failed, fence, ttl, keep, body.
-- The work has happened: where the server knows flags, this is let through when there is no memory left.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local who, state, last = ARGV[1], tonumber(ARGV[2]), 9007199254740991
local old = redis.call('GET', KEYS[1])
local go, tries, fence, made = false, 1, math.min(tonumber(ARGV[3]), last), now
local fp = 0
if old and #old > 0 and string.byte(old) % 32 >= 16 then fp = 16 end
if not old then
  go = state == 2
elseif #old >= 49 + fp and math.floor(string.byte(old) / 32) == 5 then
  local flags = string.byte(old)
  local before, barrier, born, drop = struct.unpack('>I4I7I7I7', old, 18 + fp)
  if drop <= now then
    go = state == 2
  elseif flags % 4 == 1 and string.sub(old, 2, 17) == string.sub(who, 1, 16) then
    -- The payload is what was claimed.
    go, tries, fence, made, who = true, before, barrier, born, string.sub(old, 2, 17 + fp)
  end
end
if go then
  local flags, drop = 160 + state, math.min(now + ARGV[5], last)
  if #who > 16 then flags = flags + 16 end
  redis.call('SET', KEYS[1],
    string.char(flags) .. who
      .. struct.pack('>I4I7I7I7I7I7', tries, fence, made, drop, math.min(now + ARGV[4], last), now) .. ARGV[6],
    'PX', math.ceil(math.max(drop - now, 5000000) / 1000) + 1)
end
return struct.pack('>BI7', go and 69 or 101, now) .. string.sub(ARGV[1], 1, 16) .. string.sub(old or '', 1, 72)
