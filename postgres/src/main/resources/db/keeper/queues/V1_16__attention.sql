-- Lists of sessions that need a person: each status in the order of its sessions, however many lanes there are.
CREATE INDEX lane_attention ON keeper.lane ((queue::bigint), (COALESCE(aside, status)), session)
 WHERE status IN (2, 3, 4) OR aside IS NOT NULL;
