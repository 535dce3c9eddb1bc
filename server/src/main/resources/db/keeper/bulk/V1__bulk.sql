-- Acts on many sessions or dead letters at once. A run works through its selection in steps and remembers how far it came, so
-- another server goes on where one stopped.
CREATE TABLE keeper.bulk (
  id          uuid        PRIMARY KEY,
  act         text        NOT NULL,
  queue       text        COLLATE "C" NOT NULL,
  filter      text        NOT NULL,
  actor       text        NOT NULL,
  source      text        NOT NULL,
  reason      text        NOT NULL,
  state       text        NOT NULL DEFAULT 'running',
  -- What the dry run counted; the run ends where that ended.
  total       bigint      NOT NULL,
  bound       text        NOT NULL,
  behind      text        NOT NULL DEFAULT '',
  done        bigint      NOT NULL DEFAULT 0,
  changed     bigint      NOT NULL DEFAULT 0,
  last_error  text        NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz
);

CREATE INDEX bulk_created ON keeper.bulk (created_at DESC, id);
CREATE INDEX bulk_running ON keeper.bulk (created_at) WHERE state = 'running';
