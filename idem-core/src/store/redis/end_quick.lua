#!lua flags=allow-oom
-- Records the end of a first attempt that nobody took over: nearly all of them. ARGV: how its record begins, up to its first grant, the
-- new one, until when the key lives (in milliseconds), and the time as the caller knows it, in seconds. Answers nothing where that is
-- not so, or not certain: then `end.lua` is asked.
local old, held = redis.call('GET', KEYS[1]), ARGV[1]
if old and string.sub(old, 1, #held) == held then
  local now = redis.call('TIME')[1]
  local off = now - ARGV[4]
  -- The first four bytes of its end count blocks of 17 seconds: it has not ended, nor does it in this block.
  local a, b, c, d = string.byte(old, #held + 1, #held + 4)
  if d and off < 2 and off > -2 and (((a * 256 + b) * 256 + c) * 256 + d) * 16.777216 > now + 1 then
    redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
    return held
  end
end
return false
