-- Rounds of workers over HTTP, by the id that the worker gave: a repetition finds the result of the first one. Rows live
-- for ten minutes.
CREATE TABLE keeper.work_request (
  queue      text        NOT NULL,
  credential text        NOT NULL,
  request_id text        NOT NULL,
  outcomes   text[]      NOT NULL,
  sessions   text[]      NOT NULL,
  epochs     bigint[]    NOT NULL,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (queue, credential, request_id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX work_request_at ON keeper.work_request (at);
