-- Asks for the right to run. ARGV: token and fingerprint in one, lease, keep, most tries, '1' if a lapsed holder waits for a person.
-- Without a first line of flags: so a duplicate is answered even where there is no memory left, and only the write is refused.
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local who, last = ARGV[1], 9007199254740991
local old = redis.call('GET', KEYS[1])
local go, tries, fence, made, prior = not old, 1, now, now, 0
local fp = 0
if old and #old > 0 and string.byte(old) % 32 >= 16 then fp = 16 end
if old and #old >= 49 + fp and math.floor(string.byte(old) / 32) == 5 then
  local flags = string.byte(old)
  local before, barrier, born, drop, ends = struct.unpack('>I4I7I7I7I7', old, 18 + fp)
  local state = flags % 4
  fence = math.max(now, math.min(barrier + 1, last))
  if drop <= now then
    go = true
  elseif state ~= 0 and string.sub(old, 18, 17 + fp) ~= string.sub(who, 17) then
    -- Another payload.
  elseif state >= 2 then
    -- Done or failed. The bytes of a result whose time has passed go now, if the server lets them.
    if ends <= now and #old > 56 + fp then
      old = string.sub(old, 1, 56 + fp)
      redis.pcall('SET', KEYS[1], old, 'KEEPTTL')
    end
  elseif state == 1 and string.sub(old, 2, 17) == string.sub(who, 1, 16) then
    -- The same attempt asks again.
    go, tries, fence, made, prior = true, before, barrier, born, math.floor(flags / 4) % 4
  elseif not (state == 1 and (now < ends or ARGV[5] == '1')) and before < tonumber(ARGV[4]) then
    go, tries, made, prior = true, math.min(before + 1, 4294967295), born, state + 1
  end
end
if go then
  local lease, drop = math.min(now + ARGV[2], last), math.min(now + ARGV[3], last)
  local flags = 161 + 4 * prior
  if #who > 16 then flags = flags + 16 end
  redis.call('SET', KEYS[1],
    string.char(flags) .. who .. struct.pack('>I4I7I7I7I7', tries, fence, made, drop, lease),
    -- At least five seconds: its fence must outlive what others know of the time.
    'PX', math.ceil(math.max(drop - now, 5000000) / 1000) + 1)
end
return struct.pack('>BI7', go and 67 or 99, now) .. string.sub(who, 1, 16) .. (old or '')
