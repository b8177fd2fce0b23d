-- Deletes a record on an operator's word. ARGV: an echo, '1' to delete a live claim too.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local old = redis.call('GET', KEYS[1])
local go = false
if old and #old >= 49 and math.floor(string.byte(old) / 32) == 5 then
  local flags, tries, fence, made, drop, lease = struct.unpack('>BI4I7I7I7I7', old)
  go = now < drop and (flags % 4 ~= 1 or lease <= now or ARGV[2] == '1')
  if go and fence >= now then
    -- If the clock was set back, the next grant's fence would not be greater without this one's.
    redis.call('SET', KEYS[1], struct.pack('>BI4I7I7I7I7', 160, tries, fence, made, 0, 0) .. string.sub(old, 34, 49),
      'PX', math.ceil((fence - now) / 1000) + 1)
  elseif go then
    redis.call('DEL', KEYS[1])
  end
end
return struct.pack('>BI7', go and 70 or 102, now) .. ARGV[1] .. (old or '')
