-- One process may read a queue alone: it finds new messages and carries their sessions in its memory, without lanes. Where
-- this row is, nobody else discovers. epoch is part of a key, so that who ends a reader waits for its settlements in
-- flight (FOR KEY SHARE), and a heartbeat does not.
CREATE TABLE keeper.reader (
  queue    int         PRIMARY KEY,
  epoch    bigint      NOT NULL,
  node     text        NOT NULL,
  until    timestamptz NOT NULL,
  beat_at  timestamptz NOT NULL,
  begun_at timestamptz NOT NULL,
  UNIQUE (queue, epoch)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

-- node: who discovered last.  asked_at: when a process last found that it is not the only one.
ALTER TABLE keeper.discovery ADD COLUMN node text, ADD COLUMN asked_at timestamptz;

-- A reader numbers the sessions that it carries between two of these.
ALTER SEQUENCE keeper.epoch_seq INCREMENT BY 4096;
