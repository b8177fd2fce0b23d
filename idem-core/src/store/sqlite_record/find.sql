select id, st, token, fence, tries, fp, made_at, drop_at, lease_at, prior, done_at, body_until, body
from 