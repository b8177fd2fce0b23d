#!lua flags=allow-oom
-- Records the end of a first attempt that nobody took over: nearly all of them. ARGV: how its record begins, how the new one
-- begins, how the new one ends, its lifetime in milliseconds, and an instant: what ends before may have ended, and is kept for its fence
-- alone. Answers nothing where that is not so: then `end.lua` is asked.
local old = redis.call('GET', KEYS[1])
local who = ARGV[1]
if old and string.sub(old, 1, #who) == who and #old >= #who + 25
  and struct.unpack('>I7', old, #who + 19) > tonumber(ARGV[5]) then
  -- Tries, fence and first grant are as they were.
  redis.call('SET', KEYS[1], ARGV[2] .. string.sub(old, #who + 1, #who + 18) .. ARGV[3], 'PX', ARGV[4])
  return who
end
return false
