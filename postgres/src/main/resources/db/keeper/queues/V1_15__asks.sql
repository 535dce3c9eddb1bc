-- What processes want from the one that reads a queue alone. It does not end the reading, but for one kind of ask.

-- One session is to have a lane: somebody takes it by its name, acts on it, or has replayed a message of it.
CREATE TABLE keeper.ask (
  queue       int         NOT NULL,
  id          bigint      GENERATED ALWAYS AS IDENTITY,
  -- Empty: the reader is to write everything down and to stop.
  session     text        COLLATE "C" NOT NULL,
  -- Whether it gets a lane although it has no message.
  needs_lane  boolean     NOT NULL,
  asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- For a while after this moment the reader leaves the lane alone, for who asked.
  answered_at timestamptz,
  PRIMARY KEY (queue, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);
