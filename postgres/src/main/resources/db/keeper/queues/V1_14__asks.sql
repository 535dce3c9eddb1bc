-- What other processes want from the process that reads a queue alone. None of it ends the reading, but for one kind of ask.

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

-- A process that waits for sessions of a queue which another one reads, and how many it can take.
CREATE TABLE keeper.guest (
  queue    int         NOT NULL,
  node     text        COLLATE "C" NOT NULL,
  wants    int         NOT NULL,
  asked_at timestamptz NOT NULL,
  PRIMARY KEY (queue, node)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

-- Who discovered last, and whether others had asked, does not matter any more.
ALTER TABLE keeper.discovery DROP COLUMN node, DROP COLUMN asked_at;
