#!lua flags=allow-oom
-- Takes back a grant that was never handed out, as if it had not been given: its try does not count. ARGV: token.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local old = redis.call('GET', KEYS[1])
local go = false
if old and #old >= 49 and math.floor(string.byte(old) / 32) == 5 then
  local flags, tries, fence, made, drop, lease = struct.unpack('>BI4I7I7I7I7', old)
  go = now < drop and flags % 4 == 1 and string.sub(old, 34, 49) == ARGV[1]
  if go then
    local prior = math.floor(flags / 4) % 4
    tries = math.max(tries - 1, 0)
    if prior == 0 then
      -- It was the first: the record ends, and its fence stays for as long as the clock has not passed it.
      flags, drop = flags - 1, 0
    elseif prior == 1 then
      flags, lease = flags - 5, 0
    else
      -- It had been taken over from a holder that fell silent, and looks like one now.
      lease = now
    end
    local left = math.max(drop, fence) - now
    redis.call('SET', KEYS[1],
      struct.pack('>BI4I7I7I7I7', flags, tries, fence, made, drop, lease) .. string.sub(old, 34),
      'PX', math.max(math.ceil(left / 1000), 0) + 1)
  end
end
return struct.pack('>BI7', go and 87 or 119, now) .. ARGV[1]
