-- The clock of everything that leases and bills. A function, so that a test can move the time of one database; in
-- production it is clock_timestamp(), and the planner puts that in its place.
CREATE FUNCTION keeper.now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

-- One row per job. The row is the schedule and the lease.
CREATE TABLE keeper.job (
  name            text        PRIMARY KEY,
  interval_micros bigint      NOT NULL CHECK (interval_micros > 0),
  misfire         text        NOT NULL,
  -- the grid: the oldest slot that has not been run. Only a finished run moves it.
  next_run_at     timestamptz NOT NULL,
  last_slot       timestamptz,
  -- a failed run waits until here; the grid stays as it is
  not_before      timestamptz,
  requested_at    timestamptz,
  paused          boolean     NOT NULL DEFAULT false,
  attempts        int         NOT NULL DEFAULT 0,
  last_error      text,
  -- the lease. started_at is when it was taken, lease_until when it ends: a renewal moves only the second.
  owner           text,
  epoch           bigint      NOT NULL DEFAULT 0,
  started_at      timestamptz,
  lease_until     timestamptz,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Makes the epoch part of a key: a take-over, which changes it, waits for work that holds FOR KEY SHARE, and a
  -- renewal, which does not, passes.
  CONSTRAINT job_fence UNIQUE (name, epoch),
  CHECK (owner IS NULL OR (started_at IS NOT NULL AND lease_until IS NOT NULL))
) WITH (fillfactor = 50);

-- What was run, by whom, and how it ended; the newest of each job are kept.
CREATE TABLE keeper.job_run (
  job        text        NOT NULL,
  epoch      bigint      NOT NULL,
  owner      text        NOT NULL,
  slot       timestamptz,
  missed     bigint      NOT NULL DEFAULT 0,
  started_at timestamptz NOT NULL,
  ended_at   timestamptz,
  outcome    text        NOT NULL,
  error      text,
  PRIMARY KEY (job, epoch)
);
