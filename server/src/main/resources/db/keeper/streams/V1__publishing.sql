-- A publisher's own id of an event, and the key under which a repeated request finds it. Keys live as long as their
-- events.
ALTER TABLE keeper.stream_event
  ADD COLUMN external_id text,
  ADD COLUMN key         text;
CREATE UNIQUE INDEX stream_event_key ON keeper.stream_event (stream, key) WHERE key IS NOT NULL;

-- Subscribers whose position moves only when they acknowledge.
ALTER TABLE keeper.stream_subscriber ADD COLUMN acknowledges boolean NOT NULL DEFAULT false;
