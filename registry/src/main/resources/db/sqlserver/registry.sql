-- The table of registered sessions on SQL Server, behind jobs.sql. The filtered index is the only arbiter; it needs
-- QUOTED_IDENTIFIER and ANSI_NULLS on, as the JDBC driver has them.
CREATE TABLE keeper.registered_session (
  session_id      uniqueidentifier NOT NULL PRIMARY KEY,
  tenant_id       uniqueidentifier NOT NULL,
  user_id         uniqueidentifier NOT NULL,
  capacity_id     uniqueidentifier NOT NULL,
  kind            smallint         NOT NULL,
  factor_milli    int              NOT NULL,
  period_micros   bigint           NOT NULL,
  started_at      datetime2(6)     NOT NULL,
  expires_at      datetime2(6)     NOT NULL,
  ended_at        datetime2(6)     NULL,
  end_reason      nvarchar(10)     NULL,
  metered_through datetime2(6)     NOT NULL,
  closed          bit              NOT NULL DEFAULT 0,
  CHECK (ended_at IS NULL OR ended_at >= started_at)
);
CREATE UNIQUE INDEX registered_session_active ON keeper.registered_session (user_id, capacity_id) WHERE ended_at IS NULL;
