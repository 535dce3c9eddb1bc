-- Streams of events, numbered without gaps in the order of their commits: the row of the stream is locked until the
-- appending transaction ends.
CREATE TABLE keeper.stream (
  name    text   PRIMARY KEY,
  last_id bigint NOT NULL,
  -- the number of the oldest event that is still kept, for the answer "gap"
  first_id bigint NOT NULL DEFAULT 1
) WITH (fillfactor = 50);

CREATE TABLE keeper.stream_event (
  stream text        NOT NULL,
  id     bigint      NOT NULL,
  event  text        NOT NULL,
  data   text        NOT NULL,
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (stream, id)
);

-- Retention removes by age.
CREATE INDEX stream_event_at ON keeper.stream_event (at);

-- Who did what: written in the transaction of the change.
CREATE TABLE keeper.audit (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor   text        NOT NULL,
  action  text        NOT NULL,
  target  text        NOT NULL,
  reason  text        NOT NULL DEFAULT '',
  details text        NOT NULL DEFAULT ''
);
