-- The tables of jobs on SQL Server. Run it once, in a database whose READ_COMMITTED_SNAPSHOT is on.
CREATE SCHEMA keeper;
CREATE TABLE keeper.job (
  name            nvarchar(63)   NOT NULL PRIMARY KEY,
  interval_micros bigint         NOT NULL,
  misfire         nvarchar(40)   NOT NULL,
  next_run_at     datetime2(6)   NOT NULL,
  last_slot       datetime2(6)   NULL,
  not_before      datetime2(6)   NULL,
  requested_at    datetime2(6)   NULL,
  paused          bit            NOT NULL DEFAULT 0,
  attempts        int            NOT NULL DEFAULT 0,
  last_error      nvarchar(1000) NULL,
  owner           nvarchar(128)  NULL,
  epoch           bigint         NOT NULL DEFAULT 0,
  started_at      datetime2(6)   NULL,
  lease_until     datetime2(6)   NULL
);
CREATE TABLE keeper.job_run (
  job        nvarchar(63)   NOT NULL,
  epoch      bigint         NOT NULL,
  owner      nvarchar(128)  NOT NULL,
  slot       datetime2(6)   NULL,
  missed     bigint         NOT NULL,
  started_at datetime2(6)   NOT NULL,
  ended_at   datetime2(6)   NULL,
  outcome    nvarchar(20)   NOT NULL,
  error      nvarchar(1000) NULL,
  progress    nvarchar(200) NULL,
  progress_no bigint        NOT NULL DEFAULT 0,
  PRIMARY KEY (job, epoch)
);
