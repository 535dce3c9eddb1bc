-- Deliveries of GitHub, each stored once. seq is drawn under the locks of the sessions the event goes to, so within a
-- session it grows with the order of commits.
CREATE TABLE keeper.github_event (
  seq          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- derived from the delivery id, which makes it unique by that
  id           uuid        NOT NULL,
  delivery_id  text        NOT NULL,
  type         text        NOT NULL,
  action       text,
  repository   text        COLLATE "C",
  entity_type  text        NOT NULL,
  entity_id    text        NOT NULL,
  -- of entity scope, whichever scope the bots have
  session      text        COLLATE "C" NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  traceparent  text        NOT NULL,
  headers      text        NOT NULL,
  -- for every bot of that time: whether it matched, and why
  verdicts     text        NOT NULL,
  content_type text        NOT NULL,
  payload      bytea       NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);

CREATE UNIQUE INDEX github_event_id ON keeper.github_event (id);
CREATE INDEX github_event_received ON keeper.github_event (received_at);
CREATE INDEX github_event_repository ON keeper.github_event (repository, seq);
CREATE INDEX github_event_type ON keeper.github_event (type, seq);
CREATE INDEX github_event_session ON keeper.github_event (session, seq);

-- The messages that were made of an event: one per bot, and more by replays.
CREATE TABLE keeper.github_route (
  event      bigint      NOT NULL REFERENCES keeper.github_event (seq) ON DELETE CASCADE,
  message_id text        COLLATE "C" NOT NULL,
  bot        text        COLLATE "C" NOT NULL,
  queue      text        COLLATE "C" NOT NULL,
  session    text        COLLATE "C",
  replay     uuid,
  PRIMARY KEY (event, message_id)
);

CREATE INDEX github_route_bot ON keeper.github_route (bot, event);
CREATE INDEX github_route_session ON keeper.github_route (session, event);

-- Replays, each done in steps: next_seq is the first event that is not sent again yet.
CREATE TABLE keeper.github_replay (
  id           uuid        PRIMARY KEY,
  -- the same request has the same key
  request_key  text        NOT NULL,
  actor        text        NOT NULL,
  reason       text        NOT NULL,
  selection    text        NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at  timestamptz,
  next_seq     bigint      NOT NULL DEFAULT 0,
  -- events that came after the request are not part of it
  last_seq     bigint      NOT NULL,
  events       int         NOT NULL DEFAULT 0,
  messages     int         NOT NULL DEFAULT 0
);

CREATE INDEX github_replay_key ON keeper.github_replay (request_key, requested_at);
