-- Sessions of bots that are held now, over all servers and whatever provider the queues have. A row ends with its lease: after
-- its time it counts no more, so that the death of a server frees its places.
CREATE TABLE keeper.bot_hold (
  queue       text        COLLATE "C" NOT NULL,
  session     text        COLLATE "C" NOT NULL,
  epoch       bigint      NOT NULL,
  taken_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  active_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  until       timestamptz NOT NULL,
  messages    int         NOT NULL DEFAULT 0,
  -- handed out and not yet settled
  in_hand     int         NOT NULL DEFAULT 0,
  entity_type text        NOT NULL DEFAULT 'none',
  PRIMARY KEY (queue, session)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000);
