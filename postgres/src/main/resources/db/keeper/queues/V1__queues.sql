-- Queues, their messages and the lanes of their sessions. docs/adr/0002-queue-data-model.md says why it looks like this:
-- producers only append to "message", consumers keep the rows of "lane".

CREATE TABLE keeper.queue (
  id                 int     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name               text    COLLATE "C" NOT NULL UNIQUE,
  is_ordered         boolean NOT NULL,
  max_delivery_count int     NOT NULL,
  lock_us            bigint  NOT NULL,
  ttl_us             bigint  NOT NULL,
  duplicate_us       bigint  NOT NULL,
  poison_policy      text    NOT NULL,
  created_at         timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One number after the other for all messages, and for the places of sessions in the line of those that wait. No cache:
-- a number that is drawn later must be higher, on whatever connection (Q-01).
CREATE SEQUENCE keeper.message_seq;

-- Epochs grow for ever, also when the lane of a session is gone in between (S-02).
CREATE SEQUENCE keeper.epoch_seq;

-- Messages of ordered queues that are neither completed nor dead.
CREATE TABLE keeper.message (
  seq          bigint      NOT NULL,
  -- The transaction that stored it: by this, and not by its number, a message is found to be new.
  xid          xid8        NOT NULL DEFAULT pg_current_xact_id(),
  queue        int         NOT NULL,
  attempts     int         NOT NULL DEFAULT 0,
  replays      int         NOT NULL DEFAULT 0,
  form         smallint    NOT NULL,
  enqueued_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at   timestamptz NOT NULL,
  due_at       timestamptz,
  not_before   timestamptz,
  ttl_us       bigint,
  failed_at    timestamptz,
  session      text        COLLATE "C" NOT NULL,
  message_id   text        COLLATE "C" NOT NULL,
  content_type text        NOT NULL,
  body         bytea       NOT NULL,
  properties   text,
  last_error   text,
  PRIMARY KEY (queue, session, seq)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000, vacuum_truncate = off);

-- In the indexes below the queue is an expression on purpose, as in the statements that use them: a statement has then
-- one index that can serve it, whatever the planner believes about an empty or just vacuumed table.
CREATE INDEX message_new ON keeper.message ((queue::bigint), xid);
-- Those that soon become too old are found in time; others by housekeeping, by their age.
CREATE INDEX message_short_lived ON keeper.message ((queue::bigint), expires_at)
  WHERE expires_at - enqueued_at < interval '1 hour';

-- What has been discovered: everything that this snapshot sees has its lane.
CREATE TABLE keeper.discovery (
  queue int         PRIMARY KEY,
  known pg_snapshot NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

-- Sessions that have discovered messages, an owner, or a reason to be set aside. Others have no row (S-08).
-- status: 0 ready, 1 held, 2 waiting for its head.  aside: 3 parked, 4 paused (also while it is still held).
CREATE TABLE keeper.lane (
  queue   int      NOT NULL,
  status  smallint NOT NULL,
  aside   smallint,
  -- Its place among the ready ones: the smallest has waited longest (S-07).
  place   bigint   NOT NULL,
  -- The end of the lease while held, the moment the head is due while waiting.
  until   timestamptz,
  epoch   bigint   NOT NULL DEFAULT 0,
  -- The head was in the owner's hands if its number is not above this.
  reached bigint   NOT NULL DEFAULT 0,
  session text     COLLATE "C" NOT NULL,
  owner   text,
  node    text,
  -- What is in hand, in order, where the lease is shared by several processes.
  handed  bigint[],
  reason  text,
  since   timestamptz,
  PRIMARY KEY (queue, session)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000,
        vacuum_truncate = off);

CREATE INDEX lane_ready ON keeper.lane ((queue::bigint), place) WHERE status = 0;
CREATE INDEX lane_until ON keeper.lane ((queue::bigint), until) WHERE status IN (1, 2);

CREATE TABLE keeper.session_state (
  queue      int         NOT NULL,
  session    text        COLLATE "C" NOT NULL,
  version    bigint      NOT NULL,
  bytes      bytea       NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (queue, session)
);

-- Only for housekeeping: an empty state goes when its session has nothing else.
CREATE INDEX session_state_empty ON keeper.session_state (updated_at) WHERE bytes = ''::bytea;

-- Message ids of the duplicate window, as half of their SHA-256 (Q-03).
CREATE TABLE keeper.duplicate (
  queue      int         NOT NULL,
  key        uuid        NOT NULL,
  seq        bigint      NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (queue, key)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000000, vacuum_truncate = off);

-- Only for housekeeping: costs next to nothing where rows come by the time.
CREATE INDEX duplicate_expiry ON keeper.duplicate USING brin (expires_at) WITH (pages_per_range = 32, autosummarize = on);

CREATE TABLE keeper.dead_letter (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue        int         NOT NULL,
  seq          bigint      NOT NULL,
  session      text        COLLATE "C",
  message_id   text        COLLATE "C" NOT NULL,
  form         smallint    NOT NULL,
  content_type text        NOT NULL,
  body         bytea       NOT NULL,
  properties   text,
  ttl_us       bigint,
  not_before   timestamptz,
  attempts     int         NOT NULL,
  replays      int         NOT NULL,
  reason       text        NOT NULL,
  last_error   text        NOT NULL,
  enqueued_at  timestamptz NOT NULL,
  dead_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX dead_letter_queue ON keeper.dead_letter (queue, id);
CREATE INDEX dead_letter_session ON keeper.dead_letter (queue, session, id);
CREATE INDEX dead_letter_message ON keeper.dead_letter (queue, message_id);

-- Messages of unordered queues. visible_at: from when it may be handed out; while it is locked, the end of the lock.
CREATE TABLE keeper.loose_message (
  queue        int         NOT NULL,
  seq          bigint      NOT NULL,
  receipt      bigint      NOT NULL DEFAULT 0,
  attempts     int         NOT NULL DEFAULT 0,
  replays      int         NOT NULL DEFAULT 0,
  form         smallint    NOT NULL,
  enqueued_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at   timestamptz NOT NULL,
  visible_at   timestamptz NOT NULL,
  not_before   timestamptz,
  ttl_us       bigint,
  message_id   text        COLLATE "C" NOT NULL,
  content_type text        NOT NULL,
  body         bytea       NOT NULL,
  properties   text,
  last_error   text,
  PRIMARY KEY (queue, seq)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000,
        vacuum_truncate = off);

-- receipt = 0 while nobody has it; these two are disjoint.
CREATE INDEX loose_message_free ON keeper.loose_message ((queue::bigint), visible_at, seq) WHERE receipt = 0;
CREATE INDEX loose_message_locked ON keeper.loose_message ((queue::bigint), visible_at) WHERE receipt <> 0;
CREATE INDEX loose_message_short_lived ON keeper.loose_message ((queue::bigint), expires_at)
  WHERE expires_at - enqueued_at < interval '1 hour';

-- Counts without a scan: every process adds to a row of its own, transactions of applications insert one each, and
-- housekeeping folds these together.
CREATE TABLE keeper.tally (
  queue   int    NOT NULL,
  shard   bigint NOT NULL,
  arrived bigint NOT NULL DEFAULT 0,
  gone    bigint NOT NULL DEFAULT 0,
  dead    bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (queue, shard)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

CREATE SEQUENCE keeper.tally_shard;
