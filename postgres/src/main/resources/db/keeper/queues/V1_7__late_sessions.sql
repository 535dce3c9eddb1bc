-- Sessions whose lane another transaction had locked when new messages of theirs were found. The messages are rows, but whether
-- the lane stays is known only when that transaction ends. No round waits for it: the next one looks again
-- (keeper.place_late_sessions).
CREATE TABLE keeper.late_session (
  queue   int  NOT NULL,
  session text COLLATE "C" NOT NULL,
  PRIMARY KEY (queue, session)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        vacuum_truncate = off);
