-- Events that wait for their number. Writers only insert, so they do not wait for each other; one numbering step
-- moves what is committed into the stream, in batches.
CREATE TABLE keeper.stream_outbox (
  id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text        NOT NULL,
  event  text        NOT NULL,
  data   text        NOT NULL,
  at     timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
