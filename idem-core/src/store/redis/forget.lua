#!lua flags=allow-oom
-- Deletes a record on an operator's word. ARGV: an echo, '1' to delete a live claim too.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local old = redis.call('GET', KEYS[1])
local go = false
local fp = 0
if old and #old > 0 and string.byte(old) % 32 >= 16 then fp = 16 end
if old and #old >= 49 + fp and math.floor(string.byte(old) / 32) == 5 then
  local flags = string.byte(old)
  local tries, fence, made, drop, lease = struct.unpack('>I4I7I7I7I7', old, 18 + fp)
  go = now < drop and (flags % 4 ~= 1 or lease <= now or ARGV[2] == '1')
  -- Whoever claims next may know the time only to a second or so, or the clock was set back: its fence would not be greater
  -- without this one's.
  local left = fence + 5000000 - now
  local kept
  if go and left > 0 then
    kept = redis.pcall('SET', KEYS[1],
      string.char(160) .. string.sub(old, 2, 17) .. struct.pack('>I4I7I7I7I7', tries, fence, made, 0, 0),
      'PX', math.ceil(left / 1000) + 1)
  end
  -- Without memory, an old server keeps nothing.
  if go and (not kept or kept.err) then redis.call('DEL', KEYS[1]) end
end
return struct.pack('>BI7', go and 70 or 102, now) .. ARGV[1] .. (old or '')
