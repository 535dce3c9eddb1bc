-- Messages of batches that were retried: how often each has failed. Only the first message of a session can have failed, so a
-- session has one row at most; the next failed message of the session replaces it. A row whose message has left its batch says
-- nothing any more, and housekeeping deletes it.
CREATE TABLE keeper.failed_head (
  queue      int         NOT NULL,
  session    text        COLLATE "C" NOT NULL,
  seq        bigint      NOT NULL,
  attempts   int         NOT NULL,
  failed_at  timestamptz NOT NULL,
  last_error text        NOT NULL,
  PRIMARY KEY (queue, session)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000, vacuum_truncate = off);
