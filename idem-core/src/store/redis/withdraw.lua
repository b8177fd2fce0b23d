#!lua flags=allow-oom
-- Takes back a grant that was never handed out, as if it had not been given: its try does not count. ARGV: token.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local old = redis.call('GET', KEYS[1])
local go = false
local fp = 0
if old and #old > 0 and string.byte(old) % 32 >= 16 then fp = 16 end
if old and #old >= 49 + fp and math.floor(string.byte(old) / 32) == 5 then
  local flags = string.byte(old)
  local tries, fence, made, drop, lease = struct.unpack('>I4I7I7I7I7', old, 18 + fp)
  go = now < drop and flags % 4 == 1 and string.sub(old, 2, 17) == ARGV[1]
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
    local left = math.max(drop, fence + 5000000) - now
    redis.call('SET', KEYS[1],
      string.char(flags) .. string.sub(old, 2, 17 + fp) .. struct.pack('>I4I7I7I7I7', tries, fence, made, drop, lease),
      'PX', math.max(math.ceil(left / 1000), 0) + 1)
  end
end
return struct.pack('>BI7', go and 87 or 119, now) .. ARGV[1]
