-- Messages of pushed bots that have met an endpoint out of order, so that a server that takes a session over goes on with the
-- retry schedule of the one before it. A row goes with the end of its message.
CREATE TABLE keeper.bot_outage (
  queue      text        COLLATE "C" NOT NULL,
  message_id text        COLLATE "C" NOT NULL,
  -- of the outage that lasts
  since      timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- failed posts in the outage that lasts; 0 when the endpoint has answered since
  times      int         NOT NULL DEFAULT 1,
  -- failed posts in all outages
  posts      int         NOT NULL DEFAULT 1,
  touched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (queue, message_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
