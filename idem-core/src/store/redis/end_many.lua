#!lua flags=allow-oom
-- What `end_quick.lua` does, for many records. ARGV: an echo, until when the keys live (in milliseconds), the time as the caller knows
-- it, in seconds, and for each key how its record begins, and the new one. Answers with the echo, and the numbers of the keys that are
-- left to `end.lua`.
local redis, find, byte = redis, string.find, string.byte
local now = redis.call('TIME')[1] + 1
local off, open = now - 1 - ARGV[3], ARGV[1]
local timely = off < 2 and off > -2
local found = redis.call('MGET', unpack(KEYS))
for i = 1, #KEYS do
  local old, held, stored = found[i], ARGV[2 * i + 2], false
  if timely and old and find(old, held, 1, true) == 1 then
    local a, b, c, d = byte(old, #held + 1, #held + 4)
    if d and (((a * 256 + b) * 256 + c) * 256 + d) * 16.777216 > now then
      redis.call('SET', KEYS[i], ARGV[2 * i + 3], 'PXAT', ARGV[2])
      stored = true
    end
  end
  if not stored then open = open .. ' ' .. i end
end
return open
