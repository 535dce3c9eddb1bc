-- Registered sessions. Everything that metering needs is in the row that it locks: under READ COMMITTED only the
-- locked row is read again after a wait, a joined one is not.
CREATE TABLE keeper.registered_session (
  session_id       uuid        PRIMARY KEY,
  tenant_id        uuid        NOT NULL,
  user_id          uuid        NOT NULL,
  capacity_id      uuid        NOT NULL,
  kind             smallint    NOT NULL CHECK (kind > 0),
  -- the price is that of the start: weighted microseconds are microseconds times thousandths of the factor
  factor_milli     int         NOT NULL CHECK (factor_milli >= 0),
  period_micros    bigint      NOT NULL CHECK (period_micros > 0),
  started_at       timestamptz NOT NULL,
  expires_at       timestamptz NOT NULL,
  ended_at         timestamptz,
  end_reason       text CHECK (end_reason IN ('expired', 'upgraded', 'ended')),
  metered_through  timestamptz NOT NULL,
  metered_wmicros  numeric(38) NOT NULL DEFAULT 0,
  -- what corrections have added to or taken from the ledger
  adjusted_wmicros numeric(38) NOT NULL DEFAULT 0,
  meter_seq        int         NOT NULL DEFAULT 0,
  closed           boolean     NOT NULL DEFAULT false,
  CHECK (expires_at >= started_at),
  CHECK (ended_at IS NULL OR ended_at >= started_at),
  CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
  CHECK (metered_through >= started_at),
  CHECK (ended_at IS NULL OR metered_through <= ended_at),
  CHECK (closed = (ended_at IS NOT NULL AND metered_through >= ended_at))
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

-- The only arbiter: one active session per user and capacity.
CREATE UNIQUE INDEX registered_session_active ON keeper.registered_session (user_id, capacity_id)
 WHERE ended_at IS NULL;
-- What is still to be metered, in the order in which rows are locked. No column that metering writes is in an index,
-- so its updates stay in the page.
CREATE INDEX registered_session_open ON keeper.registered_session (tenant_id, session_id) WHERE NOT closed;
-- The sweep.
CREATE INDEX registered_session_expiry ON keeper.registered_session (expires_at) WHERE ended_at IS NULL;
-- Lists. Ids grow with time, so an id is also the place in a list.
CREATE INDEX registered_session_tenant ON keeper.registered_session (tenant_id, session_id);
CREATE INDEX registered_session_user ON keeper.registered_session (user_id, session_id);

-- A session id of version 7: 48 bits of milliseconds of the database's clock, the rest random.
CREATE FUNCTION keeper.session_id(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
          || substr(gen_random_uuid()::text, 16))::uuid
$$;

-- Ends a session that the caller has locked. Never before what was metered and never after its expiry.
CREATE FUNCTION keeper.end_session(s keeper.registered_session, p_at timestamptz, p_reason text)
RETURNS keeper.registered_session LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  stop timestamptz := least(greatest(p_at, s.metered_through), s.expires_at);
BEGIN
  UPDATE keeper.registered_session r
     SET ended_at = stop, end_reason = p_reason, closed = (r.metered_through >= stop)
   WHERE r.session_id = s.session_id
  RETURNING r.* INTO s;
  PERFORM keeper.tell_session('session.' || p_reason, s);
  RETURN s;
END $$;


-- The ledger: each row is [period_from, period_to) of one session. Only appended.
CREATE TABLE keeper.usage_ledger (
  session_id   uuid          NOT NULL,
  seq          int           NOT NULL,
  type         char(1)       NOT NULL DEFAULT 'U' CHECK (type IN ('U', 'R', 'C')),
  tenant_id    uuid          NOT NULL,
  user_id      uuid          NOT NULL,
  capacity_id  uuid          NOT NULL,
  kind         smallint      NOT NULL,
  period_from  timestamptz   NOT NULL,
  period_to    timestamptz   NOT NULL,
  wmicros      numeric(38)   NOT NULL,
  units        numeric(38,9) NOT NULL,
  batch_id     uuid          NOT NULL,
  corrects     int,
  CHECK (period_to > period_from),
  PRIMARY KEY (session_id, seq)
);
CREATE INDEX usage_ledger_period ON keeper.usage_ledger (tenant_id, period_from, session_id, seq);

-- Numbers of batches, without a gap per tenant.
CREATE TABLE keeper.usage_tenant (
  tenant_id     uuid   PRIMARY KEY,
  last_batch_no bigint NOT NULL
) WITH (fillfactor = 50);

-- What is sent, as it is sent; the body is packed by zlib, its digest is that of the body itself.
CREATE TABLE keeper.usage_batch (
  batch_id    uuid          PRIMARY KEY,
  tenant_id   uuid          NOT NULL,
  batch_no    bigint        NOT NULL,
  records     int           NOT NULL,
  sum_wmicros numeric(38)   NOT NULL,
  sum_units   numeric(38,9) NOT NULL,
  packed_body bytea         NOT NULL,
  body_sha256 bytea         NOT NULL,
  created_at  timestamptz   NOT NULL DEFAULT keeper.now(),
  state       text          NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'acknowledged', 'dead')),
  attempts    int           NOT NULL DEFAULT 0,
  refusals    int           NOT NULL DEFAULT 0,
  last_error  text,
  settled_at  timestamptz,
  UNIQUE (tenant_id, batch_no)
) WITH (fillfactor = 70);
ALTER TABLE keeper.usage_batch ALTER COLUMN packed_body SET STORAGE EXTERNAL;
CREATE INDEX usage_batch_pending ON keeper.usage_batch (tenant_id, batch_no) WHERE state = 'pending';
CREATE INDEX usage_batch_state ON keeper.usage_batch (state, created_at, batch_id);

-- What is left of delivered batches and their ledger rows when they are forgotten: enough for the proof.
CREATE TABLE keeper.usage_forgotten (
  tenant_id uuid        PRIMARY KEY,
  batches   bigint      NOT NULL,
  records   bigint      NOT NULL,
  wmicros   numeric(38) NOT NULL
);

-- One lane per tenant: batches leave in order, under a lease with an epoch, and one tenant waits for no other.
CREATE TABLE keeper.usage_lane (
  tenant_id   uuid        PRIMARY KEY,
  owner       text,
  epoch       bigint      NOT NULL DEFAULT 0,
  lease_until timestamptz,
  due_at      timestamptz NOT NULL DEFAULT '-infinity',
  failures    int         NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Metering stands still while a row is not released.
CREATE TABLE keeper.metering_hold (
  id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  held_at     timestamptz NOT NULL,
  jump_micros bigint      NOT NULL,
  reason      text        NOT NULL,
  released_at timestamptz,
  released_by text
);
CREATE UNIQUE INDEX metering_hold_open ON keeper.metering_hold ((true)) WHERE released_at IS NULL;

CREATE TABLE keeper.usage_correction (
  id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  session_id uuid        NOT NULL,
  seq        int         NOT NULL,
  tenant_id  uuid        NOT NULL,
  wmicros    numeric(38) NOT NULL,
  actor      text        NOT NULL,
  reason     text        NOT NULL,
  UNIQUE (session_id, seq)
);
