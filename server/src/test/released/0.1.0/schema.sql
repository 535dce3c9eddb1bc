CREATE SCHEMA keeper;
CREATE TABLE keeper.schema_history_bulk (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_bulk_s_idx ON keeper.schema_history_bulk (success);
CREATE TABLE keeper.schema_history_gateway (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_gateway_s_idx ON keeper.schema_history_gateway (success);
CREATE TABLE keeper.schema_history_health (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_health_s_idx ON keeper.schema_history_health (success);
CREATE TABLE keeper.schema_history_inspect (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_inspect_s_idx ON keeper.schema_history_inspect (success);
CREATE TABLE keeper.schema_history_jobs (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_jobs_s_idx ON keeper.schema_history_jobs (success);
CREATE TABLE keeper.schema_history_last_values (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_last_values_s_idx ON keeper.schema_history_last_values (success);
CREATE TABLE keeper.schema_history_queues (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_queues_s_idx ON keeper.schema_history_queues (success);
CREATE TABLE keeper.schema_history_registry (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_registry_s_idx ON keeper.schema_history_registry (success);
CREATE TABLE keeper.schema_history_store (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_store_s_idx ON keeper.schema_history_store (success);
CREATE TABLE keeper.schema_history_streams (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_streams_s_idx ON keeper.schema_history_streams (success);
CREATE TABLE keeper.schema_history_work (
  installed_rank int NOT NULL PRIMARY KEY, version varchar(50), description varchar(200) NOT NULL,
  type varchar(20) NOT NULL, script varchar(1000) NOT NULL, checksum int,
  installed_by varchar(100) NOT NULL, installed_on timestamp NOT NULL DEFAULT now(),
  execution_time int NOT NULL, success boolean NOT NULL);
CREATE INDEX schema_history_work_s_idx ON keeper.schema_history_work (success);

-- store/V1__event_log.sql
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

-- store/V2__event_outbox.sql
-- Events that wait for their number. Writers only insert, so they do not wait for each other; one numbering step
-- moves what is committed into the stream, in batches.
CREATE TABLE keeper.stream_outbox (
  id     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text        NOT NULL,
  event  text        NOT NULL,
  data   text        NOT NULL,
  at     timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- store/V3__access.sql
-- Audit rows say where an act came from, and how many equal acts a row stands for.
ALTER TABLE keeper.audit
  ADD COLUMN source text    NOT NULL DEFAULT '',
  ADD COLUMN count  integer NOT NULL DEFAULT 1;
CREATE INDEX audit_actor ON keeper.audit (actor, id);
CREATE INDEX audit_target ON keeper.audit (target, id);

-- Random keys that all servers of this store share. They sign lease ids.
CREATE TABLE keeper.server_secret (
  name       text        PRIMARY KEY,
  bytes      bytea       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Named subscribers of streams, and the credential that used each name last: their number is bounded.
CREATE TABLE keeper.stream_subscriber (
  stream     text        NOT NULL,
  name       text        NOT NULL,
  credential text        NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (stream, name)
);
CREATE INDEX stream_subscriber_credential ON keeper.stream_subscriber (credential);

-- store/V4__audit_chain_and_keys.sql
-- Sealed audit rows form a chain: each hash covers its row and the hash before it. Rows are sealed shortly after their
-- commit, in the order of sealing; so acts need not wait for each other.
ALTER TABLE keeper.audit
  ADD COLUMN seq  bigint,
  ADD COLUMN hash bytea,
  ADD CHECK ((seq IS NULL) = (hash IS NULL));
CREATE UNIQUE INDEX audit_seq ON keeper.audit (seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_unsealed ON keeper.audit (id) WHERE seq IS NULL;

-- The two ends of the chain. Retention moves the first one.
CREATE TABLE keeper.audit_chain (
  id          boolean PRIMARY KEY DEFAULT true CHECK (id),
  forgotten   bigint  NOT NULL DEFAULT 0,
  forgot_hash bytea   NOT NULL DEFAULT ''::bytea,
  last_seq    bigint  NOT NULL DEFAULT 0,
  last_hash   bytea   NOT NULL DEFAULT ''::bytea
);
INSERT INTO keeper.audit_chain DEFAULT VALUES;

-- API keys that were created through the API, by their digests.
CREATE TABLE keeper.api_key (
  prefix     text        PRIMARY KEY,
  name       text        NOT NULL,
  sha256     text        NOT NULL UNIQUE,
  roles      text[]      NOT NULL,
  tenant     uuid,
  queues     text[],
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by text        NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE UNIQUE INDEX api_key_name ON keeper.api_key (name) WHERE revoked_at IS NULL;

-- health/V1__write_probe.sql
-- One row that each server writes every few seconds to find out whether the database takes writes.
CREATE TABLE keeper.write_probe (
  at timestamptz NOT NULL
);

-- queues/V1__queues.sql
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

-- queues/V1_1__shared_bodies.sql
-- Bodies that several messages share, such as an event that goes to many queues. Such a message has form + 4, and in the
-- place of its body the id of the shared one. Who reads it gets the body; a dead letter has a copy of its own.
CREATE TABLE keeper.shared_body (
  id    uuid  PRIMARY KEY,
  bytes bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off,
        -- What compresses into a page stays in the row: a GitHub payload of 10 KB does.
        toast_tuple_target = 8160);

-- Who still needs one, when it is about to go.
CREATE INDEX message_shared ON keeper.message (body) WHERE form >= 4;
CREATE INDEX loose_message_shared ON keeper.loose_message (body) WHERE form >= 4;

CREATE FUNCTION keeper.shared_body(ref bytea) RETURNS bytea
LANGUAGE plpgsql STABLE STRICT
SET enable_seqscan = off
AS $$
BEGIN
  RETURN (SELECT b.bytes FROM keeper.shared_body b WHERE b.id = encode(ref, 'hex')::uuid);
END $$;

-- Deletes shared bodies. Messages that still wait get a copy each.
CREATE FUNCTION keeper.release_bodies(ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  UPDATE keeper.message m SET form = m.form - 4, body = b.bytes
    FROM keeper.shared_body b
   WHERE b.id = ANY (ids) AND m.form >= 4 AND m.body = decode(replace(b.id::text, '-', ''), 'hex');
  UPDATE keeper.loose_message m SET form = m.form - 4, body = b.bytes
    FROM keeper.shared_body b
   WHERE b.id = ANY (ids) AND m.form >= 4 AND m.body = decode(replace(b.id::text, '-', ''), 'hex');
  DELETE FROM keeper.shared_body b WHERE b.id = ANY (ids);
END $$;

-- queues/V1_2__readers.sql
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

-- queues/V1_3__line.sql
-- All messages of a queue in the order of their numbers: a reader works off what has piled up in pages, and finds what it
-- completes. The queue is an expression for the reason given in V1.
CREATE INDEX message_line ON keeper.message ((queue + 0), seq);

-- queues/V1_4__bundles.sql
-- Messages of ordered queues as they were sent: those that were stored together are one row, so that storing, reading and
-- completing many costs little more than one. Who reads a queue alone hands them out from here; for everybody else they
-- are untied first: each becomes a row of "message", and its bundle goes. docs/adr/0009-bundles.md says why.

-- A bundle has its own 64 numbers: one bit for each of its messages, and nothing of another bundle comes between them.
ALTER SEQUENCE keeper.message_seq INCREMENT BY 64;

CREATE TABLE keeper.bundle (
  queue       int         NOT NULL,
  -- The number of its first message; the others follow.
  first_seq   bigint      NOT NULL,
  last_seq    bigint      NOT NULL,
  -- The transaction that stored it: by this a reader finds it to be new.
  xid         xid8        NOT NULL DEFAULT pg_current_xact_id(),
  -- A bit for each message, and those of them that are completed, or have become rows.
  members     bigint      NOT NULL,
  done        bigint      NOT NULL DEFAULT 0,
  -- Of all bodies.
  bytes       bigint      NOT NULL,
  enqueued_at timestamptz NOT NULL,
  -- When those are too old that do not say how long they may wait.
  expires_at  timestamptz NOT NULL,
  -- Its body, where that is one of the shared ones; such a message is alone in its bundle.
  shared      uuid,
  sessions    text[]      COLLATE "C" NOT NULL,
  ids         text[]      COLLATE "C" NOT NULL,
  -- One element stands for all.
  forms       smallint[]  NOT NULL,
  types       text[]      NOT NULL,
  bodies      bytea[]     NOT NULL,
  -- NULL where no message has any.
  props       text[],
  ttls        bigint[],
  not_befores timestamptz[],
  PRIMARY KEY (queue, first_seq)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000, vacuum_truncate = off,
        toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000,
        toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = off);

-- They live for a moment: compressing them costs more than it saves.
ALTER TABLE keeper.bundle ALTER sessions SET STORAGE EXTERNAL, ALTER ids SET STORAGE EXTERNAL,
  ALTER bodies SET STORAGE EXTERNAL, ALTER props SET STORAGE EXTERNAL;

-- Where more bundles were new than are untied at once: the number up to which they have been. Those behind it that the known
-- snapshot sees come before everything that it does not see.
ALTER TABLE keeper.discovery ADD COLUMN left_after bigint;

CREATE INDEX bundle_new ON keeper.bundle ((queue::bigint), xid);
CREATE INDEX bundle_shared ON keeper.bundle (shared) WHERE shared IS NOT NULL;

-- Readers since the database was started: it is empty after a crash, and on a standby that takes over. What a reader knows by
-- numbers of transactions may be wrong then, because those that were lost are given out again; so it begins anew.
CREATE UNLOGGED TABLE keeper.reading (
  queue int    PRIMARY KEY,
  epoch bigint NOT NULL
);

-- Ids of the duplicate window that their sender has just made, bundle by bundle: nobody else can have used them yet, so
-- they need no row each. R__5_send.sql says how an id that comes again is found.
CREATE TABLE keeper.sent (
  queue      int         NOT NULL,
  first_seq  bigint      NOT NULL,
  -- The milliseconds with which the ids begin, from the first to the last.
  span       int8range   NOT NULL,
  keys       uuid[]      NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000000, vacuum_truncate = off);

ALTER TABLE keeper.sent ALTER keys SET STORAGE EXTERNAL;
CREATE INDEX sent_span ON keeper.sent USING gist (span);
CREATE INDEX sent_expiry ON keeper.sent USING brin (expires_at) WITH (pages_per_range = 32, autosummarize = on);

-- Deletes shared bodies. Messages that still wait get a copy each.
CREATE OR REPLACE FUNCTION keeper.release_bodies(ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  UPDATE keeper.bundle m SET shared = NULL, forms = ARRAY[m.forms[1] - 4], bodies = ARRAY[b.bytes], bytes = octet_length(b.bytes)
    FROM keeper.shared_body b
   WHERE b.id = ANY (release_bodies.ids) AND m.shared = b.id;
  UPDATE keeper.message m SET form = m.form - 4, body = b.bytes
    FROM keeper.shared_body b
   WHERE b.id = ANY (release_bodies.ids) AND m.form >= 4 AND m.body = decode(replace(b.id::text, '-', ''), 'hex');
  UPDATE keeper.loose_message m SET form = m.form - 4, body = b.bytes
    FROM keeper.shared_body b
   WHERE b.id = ANY (release_bodies.ids) AND m.form >= 4 AND m.body = decode(replace(b.id::text, '-', ''), 'hex');
  DELETE FROM keeper.shared_body b WHERE b.id = ANY (release_bodies.ids);
END $$;

-- queues/V1_5__completions.sql
-- What a process that reads a queue alone has completed of bundles that are not complete yet: a note for each of its settlements,
-- where one row stands for the bits of all bundles it is about. A bundle that is complete goes, without its bits having been set;
-- they are set (keeper.fold_notes) before anybody else looks at them, and where a note has become old. So the bits of a bundle and those of
-- its notes are the truth together, and there are notes only where there is a reader. docs/adr/0009-bundles.md says why.
CREATE TABLE keeper.completion (
  queue  int      NOT NULL,
  -- Counted by the reader.
  note   bigint   NOT NULL,
  -- Bundles by their first numbers, and the bits of what is completed.
  firsts bigint[] NOT NULL,
  masks  bigint[] NOT NULL,
  PRIMARY KEY (queue, note)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000, vacuum_truncate = off);

ALTER TABLE keeper.completion ALTER firsts SET STORAGE EXTERNAL, ALTER masks SET STORAGE EXTERNAL;

-- queues/V1_7__late_sessions.sql
-- Sessions whose lane another transaction had locked when new messages of theirs were found. The messages are rows, but whether
-- the lane stays is known only when that transaction ends. No round waits for it: the next one looks again
-- (keeper.place_late_sessions).
CREATE TABLE keeper.late_session (
  queue   int  NOT NULL,
  session text COLLATE "C" NOT NULL,
  PRIMARY KEY (queue, session)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        vacuum_truncate = off);

-- queues/V1_12__aside.sql
-- Parked and paused sessions are counted at every look at the metrics.
CREATE INDEX lane_aside ON keeper.lane ((queue::bigint), status) WHERE status IN (3, 4);

-- queues/V1_13__frozen.sql
-- Since when the time to live of a session's messages stands still: it is set aside, or its first message blocks it.
ALTER TABLE keeper.lane ADD COLUMN frozen_since timestamptz;

-- queues/V1_14__held_since.sql
-- When the present owner took the session, for operators; it says nothing while the lane is not held.
ALTER TABLE keeper.lane ADD COLUMN held_since timestamptz;

-- queues/R__0_bundles.sql
-- Messages that are stored together, and how they become rows of their own.

-- What is left of one in a bundle, message by message, as far as its own bits tell.
CREATE OR REPLACE VIEW keeper.bundled_message AS
SELECT b.queue, b.first_seq + u.n - 1 AS seq, b.xid, u.session COLLATE "C" AS session, u.id COLLATE "C" AS message_id,
       COALESCE(u.form, b.forms[1]) AS form, COALESCE(u.type, b.types[1]) AS content_type, u.body,
       u.properties, u.ttl_us, u.not_before, b.enqueued_at,
       CASE WHEN u.ttl_us IS NULL THEN b.expires_at ELSE b.enqueued_at + u.ttl_us * interval '1 microsecond' END AS expires_at,
       b.first_seq AS bundle
  FROM keeper.bundle b
       CROSS JOIN LATERAL unnest(b.sessions, b.ids, b.forms, b.types, b.bodies, b.props, b.ttls, b.not_befores) WITH ORDINALITY
         u(session, id, form, type, body, properties, ttl_us, not_before, n)
 WHERE u.session IS NOT NULL AND (b.done >> (u.n - 1)::int) & 1 = 0;

-- What notes say of bundles.
CREATE OR REPLACE VIEW keeper.noted AS
SELECT c.queue, u.first, bit_or(u.mask) AS mask
  FROM keeper.completion c CROSS JOIN LATERAL unnest(c.firsts, c.masks) u(first, mask)
 GROUP BY c.queue, u.first;

-- All messages that wait in ordered queues, however they are stored: for people, and for tests.
CREATE OR REPLACE VIEW keeper.waiting_message AS
SELECT m.queue, m.seq, m.session, m.message_id, m.form, m.content_type, m.body, m.properties, m.enqueued_at, m.expires_at
  FROM keeper.message m
 UNION ALL
SELECT b.queue, b.seq, b.session, b.message_id, b.form, b.content_type, b.body, b.properties, b.enqueued_at, b.expires_at
  FROM keeper.bundled_message b LEFT JOIN keeper.noted n ON n.queue = b.queue AND n.first = b.bundle
 WHERE n.mask IS NULL OR (n.mask >> (b.seq - b.bundle)::int) & 1 = 0;

-- Sets bits of a bundle; with the last one it goes.
CREATE OR REPLACE FUNCTION keeper.tick_off(q int, first bigint, mask bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
DECLARE
  is_complete boolean;
BEGIN
  UPDATE keeper.bundle b SET done = b.done | mask WHERE b.queue = q AND b.first_seq = first
  RETURNING b.done = b.members INTO is_complete;
  IF is_complete THEN
    DELETE FROM keeper.bundle b WHERE b.queue = q AND b.first_seq = first;
  END IF;
END $$;

-- Lets bundles say what their notes say. The caller has ended the reader, or keeps its settlements away.
CREATE OR REPLACE FUNCTION keeper.fold_notes(q int) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  PERFORM keeper.tick_off(q, n.first, n.mask) FROM keeper.noted n WHERE n.queue = q;
  DELETE FROM keeper.completion c WHERE c.queue = q;
END $$;

-- Bundles that nobody has untied, as far as a snapshot and a number tell (discovery). Never found from the first number on: what
-- is gone leaves traces there as long as some transaction might still see it.
CREATE OR REPLACE FUNCTION keeper.undiscovered(q int, known pg_snapshot, left_after bigint)
RETURNS TABLE (first_seq bigint, open int, xid xid8)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  IF left_after IS NOT NULL THEN
    RETURN QUERY
      SELECT b.first_seq, bit_count((b.members & ~b.done)::bit(64))::int, b.xid FROM keeper.bundle b
       WHERE b.queue = q AND b.first_seq > left_after AND pg_visible_in_snapshot(b.xid, known)
       ORDER BY b.first_seq LIMIT 70000;
  ELSE
    -- bundle_new
    RETURN QUERY
      SELECT b.first_seq, bit_count((b.members & ~b.done)::bit(64))::int, b.xid FROM keeper.bundle b
       WHERE b.queue::bigint = q AND b.xid >= pg_snapshot_xmax(known)
      UNION ALL
      SELECT b.first_seq, bit_count((b.members & ~b.done)::bit(64))::int, b.xid FROM keeper.bundle b
       WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(known)));
  END IF;
END $$;

-- Makes rows of the messages of these bundles, or only of those of some sessions. The caller has seen to it that nobody
-- else takes them meanwhile: it has locked discovery while nobody reads alone, or it is the reader. Tells what became a row.
CREATE OR REPLACE FUNCTION keeper.untie(q int, firsts bigint[], of_sessions text[])
RETURNS TABLE (of_session text, of_seq bigint, due timestamptz, stored_at timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  -- Whoever completes messages of a bundle has it locked: what is done is known in the next statement.
  PERFORM 1 FROM (SELECT f.first FROM unnest(firsts) f(first) ORDER BY f.first) f
     CROSS JOIN LATERAL (SELECT FROM keeper.bundle x WHERE x.queue = q AND x.first_seq = f.first OFFSET 0 FOR UPDATE) b;
  RETURN QUERY
    INSERT INTO keeper.message AS m (seq, xid, queue, form, enqueued_at, expires_at, due_at, not_before, ttl_us, session,
                                     message_id, content_type, body, properties)
    SELECT b.seq, b.xid, q, b.form, b.enqueued_at, b.expires_at, b.not_before, b.not_before, b.ttl_us, b.session,
           b.message_id, b.content_type, b.body, b.properties
      FROM unnest(firsts) f(first)
           CROSS JOIN LATERAL (SELECT * FROM keeper.bundled_message x WHERE x.queue = q AND x.bundle = f.first OFFSET 0) b
     WHERE of_sessions IS NULL OR b.session IN (SELECT unnest(of_sessions))
    RETURNING m.session, m.seq, m.due_at, m.enqueued_at;
  IF of_sessions IS NOT NULL THEN
    UPDATE keeper.bundle b SET done = b.done | t.moved
      FROM (SELECT x.place_of,
                   (SELECT bit_or(1::bigint << (u.n - 1)::int) FROM unnest(x.sessions) WITH ORDINALITY u(session, n)
                     WHERE u.session IN (SELECT unnest(of_sessions))) AS moved
              FROM unnest(firsts) f(first)
                   CROSS JOIN LATERAL (SELECT y.ctid AS place_of, y.sessions FROM keeper.bundle y
                                        WHERE y.queue = q AND y.first_seq = f.first OFFSET 0) x
             OFFSET 0) t
     WHERE b.ctid = t.place_of AND t.moved IS NOT NULL;
  END IF;
  DELETE FROM keeper.bundle b
   WHERE b.ctid = ANY (ARRAY(
     SELECT x.place_of
       FROM unnest(firsts) f(first)
            CROSS JOIN LATERAL (SELECT y.ctid AS place_of, y.done, y.members FROM keeper.bundle y
                                 WHERE y.queue = q AND y.first_seq = f.first OFFSET 0) x
      WHERE of_sessions IS NULL OR x.done = x.members));
END $$;

-- Makes rows of all messages of one session that are stored, unless somebody reads this queue alone, and sees to it that
-- the session has a lane then. False when there are none.
CREATE OR REPLACE FUNCTION keeper.untie_session(q int, one_session text) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  place keeper.discovery;
  firsts bigint[];
  head bigint;
  lanes record;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT * INTO place FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q) THEN
    RETURN false;
  END IF;
  -- Those that are left, and what is new.
  firsts := ARRAY(
    SELECT u.first_seq
      FROM (SELECT l.first_seq FROM keeper.undiscovered(q, place.known, place.left_after) l WHERE place.left_after IS NOT NULL
            UNION ALL
            SELECT n.first_seq FROM keeper.undiscovered(q, place.known, NULL) n) u
           CROSS JOIN LATERAL (SELECT x.sessions FROM keeper.bundle x
                                WHERE x.queue = q AND x.first_seq = u.first_seq OFFSET 0) b
     WHERE b.sessions @> ARRAY[one_session]);
  IF cardinality(firsts) = 0 THEN
    RETURN false;
  END IF;
  SELECT min(u.of_seq) INTO head FROM keeper.untie(q, firsts, ARRAY[one_session]) u;
  IF head IS NOT NULL THEN
    -- Key share: who deletes the lane looks again for messages once it has it. Nothing waits while discovery is locked.
    SELECT * INTO lanes FROM keeper.share_lanes(q, ARRAY[one_session]);
    IF cardinality(lanes.busy) > 0 THEN
      PERFORM keeper.come_back_to(q, lanes.busy);
    ELSIF cardinality(lanes.shared) = 0 THEN
      INSERT INTO keeper.lane (queue, session, status, place) VALUES (q, one_session, 0, head) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        PERFORM keeper.come_back_to(q, ARRAY[one_session]);
      END IF;
    END IF;
  END IF;
  RETURN head IS NOT NULL;
END $$;

-- queues/R__1_lanes.sql
-- What every change of a lane has in common. Plans are pinned in the functions themselves, not on connections: they hold
-- through any pool, and on empty, freshly vacuumed and large tables alike (docs/postgres.md).

CREATE OR REPLACE FUNCTION keeper.micros(us bigint) RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT us * interval '1 microsecond' $$;

-- Refuses a transaction that is not in READ COMMITTED. Functions that lock a row and look in a later statement call it: in
-- other levels that statement would not see what those have committed who had the row before.
CREATE OR REPLACE FUNCTION keeper.refuse_isolation() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The transaction is in %, where queues would miss messages; use READ COMMITTED for it',
    upper(current_setting('transaction_isolation')) USING ERRCODE = 'SK003';
END $$;

-- Adds to the counts of a queue. A shard below zero is a row of its own, so that no transaction waits for another one.
CREATE OR REPLACE FUNCTION keeper.add_to_tally(q int, of_shard bigint, more_arrived bigint, more_gone bigint,
                                               more_dead bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  IF of_shard < 0 THEN
    INSERT INTO keeper.tally VALUES (q, -nextval('keeper.tally_shard'), more_arrived, more_gone, more_dead);
  ELSE
    UPDATE keeper.tally t
       SET arrived = t.arrived + more_arrived, gone = t.gone + more_gone, dead = t.dead + more_dead
     WHERE t.queue = q AND t.shard = of_shard;
    IF NOT FOUND THEN
      INSERT INTO keeper.tally AS t VALUES (q, of_shard, more_arrived, more_gone, more_dead)
      ON CONFLICT (queue, shard) DO UPDATE
         SET arrived = t.arrived + more_arrived, gone = t.gone + more_gone, dead = t.dead + more_dead;
    END IF;
  END IF;
END $$;

-- Makes a message of an ordered queue a dead letter. The caller has the lane.
CREATE OR REPLACE FUNCTION keeper.bury(q int, of_session text, of_seq bigint, tried int, why text, error text,
                                       of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  WITH dead AS (DELETE FROM keeper.message m WHERE m.queue = q AND m.session = of_session AND m.seq = of_seq RETURNING m.*)
  INSERT INTO keeper.dead_letter (queue, seq, session, message_id, form, content_type, body, properties, ttl_us,
                                  not_before, attempts, replays, reason, last_error, enqueued_at)
  SELECT d.queue, d.seq, d.session, d.message_id, d.form & 3, d.content_type,
         CASE WHEN d.form < 4 THEN d.body ELSE keeper.shared_body(d.body) END, d.properties, d.ttl_us,
         d.not_before, d.attempts + tried, d.replays, why, COALESCE(NULLIF(error, ''), d.last_error, ''), d.enqueued_at
    FROM dead d;
  IF FOUND THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, 1, 1);
  END IF;
END $$;

-- Returns whether the time to live of a session stands still. Only asked about messages that look too old.
CREATE OR REPLACE FUNCTION keeper.is_frozen(q int, of_session text) RETURNS boolean
LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$ SELECT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = of_session AND l.frozen_since IS NOT NULL) $$;

-- Lets time to live run again, unless the session is set aside: its messages live longer by the time that it stood still. The
-- caller has the lane.
CREATE OR REPLACE FUNCTION keeper.thaw_lane(q int, of_session text) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  since timestamptz;
BEGIN
  SELECT l.frozen_since INTO since FROM keeper.lane l
   WHERE l.queue = q AND l.session = of_session AND l.aside IS NULL;
  IF since IS NULL THEN
    RETURN;
  END IF;
  UPDATE keeper.message m
     SET expires_at = m.expires_at + (clock_timestamp() - GREATEST(since, m.enqueued_at))
   WHERE m.queue = q AND m.session = of_session;
  UPDATE keeper.lane l SET frozen_since = NULL WHERE l.queue = q AND l.session = of_session;
END $$;

-- Puts a lane that nobody holds where it belongs. The caller has locked it FOR UPDATE in an earlier statement, so what
-- this one sees of its messages is everything that was ever discovered for it.
CREATE OR REPLACE FUNCTION keeper.place_lane(q int, of_session text, of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  head keeper.message;
  is_aside boolean;
  is_frozen boolean;
BEGIN
  SELECT l.aside IS NOT NULL, l.frozen_since IS NOT NULL INTO is_aside, is_frozen
    FROM keeper.lane l WHERE l.queue = q AND l.session = of_session;
  LOOP
    SELECT * INTO head FROM keeper.message m WHERE m.queue = q AND m.session = of_session ORDER BY m.seq LIMIT 1;
    EXIT WHEN is_aside OR is_frozen OR head.seq IS NULL OR head.expires_at > clock_timestamp();
    PERFORM keeper.bury(q, of_session, head.seq, 0, 'expired', NULL, of_shard);
  END LOOP;
  IF head.seq IS NULL AND NOT is_aside THEN
    DELETE FROM keeper.lane l WHERE l.queue = q AND l.session = of_session;
  ELSE
    UPDATE keeper.lane l
       SET status = CASE WHEN is_aside THEN l.aside WHEN head.due_at > clock_timestamp() THEN 2 ELSE 0 END,
           until = CASE WHEN NOT is_aside AND head.due_at > clock_timestamp() THEN head.due_at END,
           place = CASE WHEN l.status = 0 THEN l.place ELSE nextval('keeper.message_seq') END, owner = NULL, node = NULL, reached = 0, handed = NULL
     WHERE l.queue = q AND l.session = of_session;
  END IF;
END $$;

-- Counts a failed attempt of a lane's head and lets the poison policy decide. True when the head is gone.
CREATE OR REPLACE FUNCTION keeper.fail_head(q int, of_session text, of_seq bigint, delay_us bigint, limited boolean,
                                            error text, of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  tried int;
  most int;
  policy text;
BEGIN
  UPDATE keeper.message m
     SET attempts = m.attempts + 1, last_error = error, failed_at = clock_timestamp(),
         due_at = clock_timestamp() + keeper.micros(delay_us)
   WHERE m.queue = q AND m.session = of_session AND m.seq = of_seq
  RETURNING m.attempts INTO tried;
  SELECT k.max_delivery_count, k.poison_policy INTO most, policy FROM keeper.queue k WHERE k.id = q;
  IF NOT limited OR tried < most THEN
    RETURN;
  END IF;
  CASE policy
    WHEN 'DEAD_LETTER' THEN
      PERFORM keeper.bury(q, of_session, of_seq, 0, 'max delivery count reached', error, of_shard);
      PERFORM keeper.thaw_lane(q, of_session);
    WHEN 'PARK_SESSION' THEN
      UPDATE keeper.lane l
         SET aside = 3, since = clock_timestamp(), frozen_since = COALESCE(l.frozen_since, clock_timestamp()),
             reason = 'max delivery count reached' || CASE WHEN error = '' THEN '' ELSE ': ' || error END
       WHERE l.queue = q AND l.session = of_session;
    ELSE
      -- It stays where it is and is tried again.
      UPDATE keeper.lane l SET frozen_since = clock_timestamp()
       WHERE l.queue = q AND l.session = of_session AND l.frozen_since IS NULL;
  END CASE;
END $$;

-- Ends a lease that has run out: the message in hand had its attempt, those behind it had none (S-05).
-- The caller has locked the lane FOR UPDATE.
CREATE OR REPLACE FUNCTION keeper.end_lease(q int, of_session text, of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  lane keeper.lane;
  head_seq bigint;
BEGIN
  SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session;
  IF lane.handed IS NOT NULL THEN
    head_seq := lane.handed[1];
  ELSE
    SELECT m.seq INTO head_seq FROM keeper.message m
     WHERE m.queue = q AND m.session = of_session ORDER BY m.seq LIMIT 1;
  END IF;
  IF head_seq <= lane.reached THEN
    PERFORM keeper.fail_head(q, of_session, head_seq, 0, true, 'the lease ran out before the message was settled', of_shard);
  END IF;
END $$;

-- Lanes whose lease has run out or whose head has become due: they are ready again. Tells when to look next.
CREATE OR REPLACE FUNCTION keeper.wake_lanes(q int, of_shard bigint, OUT woken int, OUT next_us bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  late record;
  -- A variable, because an index cannot be searched by a volatile function.
  moment timestamptz := clock_timestamp();
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  woken := 0;
  FOR late IN
    SELECT l.session, l.status FROM keeper.lane l
     WHERE l.queue::bigint = q AND l.status IN (1, 2) AND l.until <= moment
     ORDER BY l.until LIMIT 500 FOR UPDATE SKIP LOCKED
  LOOP
    IF late.status = 1 THEN
      PERFORM keeper.end_lease(q, late.session, of_shard);
    END IF;
    PERFORM keeper.place_lane(q, late.session, of_shard);
    woken := woken + 1;
  END LOOP;
  -- Those of sessions that are parked, paused or held stay; they must not stand in the way of the others.
  FOR late IN
    SELECT m.session, m.seq
      FROM (SELECT x.session, x.seq FROM keeper.message x
             WHERE x.queue::bigint = q AND x.expires_at - x.enqueued_at < interval '1 hour' AND x.expires_at <= moment
             ORDER BY x.expires_at LIMIT 20000) m
           CROSS JOIN LATERAL (SELECT y.status, y.frozen_since FROM keeper.lane y
                                WHERE y.queue = q AND y.session = m.session OFFSET 0) l
     WHERE l.status IN (0, 2) AND l.frozen_since IS NULL
     LIMIT 500
  LOOP
    PERFORM 1 FROM keeper.lane l
      WHERE l.queue = q AND l.session = late.session AND l.status + 0 IN (0, 2) AND l.frozen_since IS NULL FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      PERFORM keeper.bury(q, late.session, late.seq, 0, 'expired', NULL, of_shard);
      PERFORM keeper.place_lane(q, late.session, of_shard);
    END IF;
  END LOOP;
  SELECT (extract(epoch FROM least(
            (SELECT l.until FROM keeper.lane l
              WHERE l.queue::bigint = q AND l.status IN (1, 2) AND l.until > moment ORDER BY l.until LIMIT 1),
            (SELECT m.expires_at FROM keeper.message m
              WHERE m.queue::bigint = q AND m.expires_at - m.enqueued_at < interval '1 hour' AND m.expires_at > moment
              ORDER BY m.expires_at LIMIT 1)) - moment) * 1000000)::bigint
    INTO next_us;
END $$;

-- Locks the lanes of these sessions against those who delete them, without waiting: "shared" are locked, "busy" are locked by
-- somebody else, all others have no lane. The caller keeps others from making lanes: it has locked discovery, or it is the reader.
CREATE OR REPLACE FUNCTION keeper.share_lanes(q int, of_sessions text[], OUT shared text[], OUT busy text[])
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  there text[];
BEGIN
  shared := '{}';
  busy := '{}';
  there := ARRAY(
    SELECT l.session FROM unnest(of_sessions) f(session)
           CROSS JOIN LATERAL (SELECT x.session FROM keeper.lane x WHERE x.queue = q AND x.session = f.session OFFSET 0) l);
  IF cardinality(there) = 0 THEN
    RETURN;
  END IF;
  shared := ARRAY(
    SELECT l.session FROM unnest(there) f(session)
           CROSS JOIN LATERAL (SELECT x.session FROM keeper.lane x WHERE x.queue = q AND x.session = f.session
                               OFFSET 0 FOR KEY SHARE SKIP LOCKED) l);
  IF cardinality(shared) < cardinality(there) THEN
    busy := ARRAY(SELECT unnest(there) EXCEPT SELECT unnest(shared));
  END IF;
END $$;

-- Remembers sessions whose lanes are busy, for the next round.
CREATE OR REPLACE FUNCTION keeper.come_back_to(q int, busy text[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  IF cardinality(busy) > 0 THEN
    INSERT INTO keeper.late_session (queue, session) SELECT q, b.session FROM unnest(busy) b(session) ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- Looks again at sessions whose lanes were busy: those that have lost their lane get a new one. Tells which have their lanes now.
-- The caller keeps others from making lanes, as above.
CREATE OR REPLACE FUNCTION keeper.place_late_sessions(q int, of_shard bigint) RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  late text[] := ARRAY(SELECT s.session FROM keeper.late_session s WHERE s.queue = q ORDER BY s.session LIMIT 1000);
  shared text[];
  busy text[];
  one text;
  head bigint;
BEGIN
  IF cardinality(late) = 0 THEN
    RETURN late;
  END IF;
  SELECT * INTO shared, busy FROM keeper.share_lanes(q, late);
  FOREACH one IN ARRAY late LOOP
    CONTINUE WHEN one = ANY (shared) OR one = ANY (busy);
    SELECT m.seq INTO head FROM keeper.message m WHERE m.queue = q AND m.session = one ORDER BY m.seq LIMIT 1;
    IF FOUND THEN
      INSERT INTO keeper.lane (queue, session, status, place) VALUES (q, one, 0, head);
      -- Its head may be due later, or too old.
      PERFORM keeper.place_lane(q, one, of_shard);
    END IF;
  END LOOP;
  DELETE FROM keeper.late_session s WHERE s.queue = q AND s.session = ANY (late) AND s.session <> ALL (busy);
  RETURN shared;
END $$;

-- queues/R__2_claim.sql
-- Finds new messages, gives their sessions lanes, and hands ready lanes to those who wait, all in one round trip.

-- LATERAL (… OFFSET 0): rows are found one by one by their key, from the given list, and never the other way round: on
-- an empty or just vacuumed table the planner believes that reading all of it costs nothing, and keeps to that plan.
-- Rows that were found that way are changed by their ctid, which cannot move while they are locked.

-- One message as it is handed out, or what else there is to say: kind 1 = a lane that was claimed (or fetched) and one of
-- its messages, or none; 2 = a held lane has news; 3 = the lease of this session is not held any more; 0 = the summary.
DO $$ BEGIN
  IF to_regtype('keeper.handed') IS NULL THEN
    CREATE TYPE keeper.handed AS (
      kind smallint, session text, epoch bigint, until timestamptz, node text, seq bigint, attempts int, form smallint,
      is_expired boolean, enqueued_at timestamptz, due_at timestamptz, not_before timestamptz, ttl_us bigint,
      message_id text, content_type text, body bytea, properties text, replays int);
  END IF;
END $$;

-- Locks discovery. A caller that has work already does not wait; others wait a moment. False when somebody else has it.
CREATE OR REPLACE FUNCTION keeper.lock_discovery(q int, waits boolean) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET lock_timeout = '1s'
AS $$
BEGIN
  PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE SKIP LOCKED;
  IF FOUND OR NOT waits THEN
    RETURN FOUND;
  END IF;
  BEGIN
    PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
    RETURN FOUND;
  EXCEPTION WHEN lock_not_available THEN
    RETURN false;
  END;
END $$;

-- The bytes of a message's body, wherever that is kept.
CREATE OR REPLACE FUNCTION keeper.body_size(form smallint, body bytea) RETURNS bigint
LANGUAGE sql STABLE
AS $$
  SELECT CASE WHEN form < 4 THEN octet_length(body)
              ELSE (SELECT octet_length(b.bytes) FROM keeper.shared_body b WHERE b.id = encode(body, 'hex')::uuid) END::bigint
$$;

-- What a statement that has locked something may send. The server keeps its locks until the client has read the answer, so the
-- answer must fit into what waits on the way to a client that stands still.
CREATE OR REPLACE FUNCTION keeper.most_with_locks() RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 49152::bigint $$;

-- owners: one for each who waits.  batch: messages fetched with each lane.  from_place: where the line began lately; what
-- is before it are mostly traces of lanes that were taken, and is looked through only if there is not enough behind it.
-- The summary tells where the line begins now (seq), who reads the queue alone (node), and whether there are more bundles
-- than were untied (attempts): so many messages become rows in one call, in the order of their numbers. It also tells whether
-- a later round has to look again at something that was locked (form), and when the first new message is due that waits (due_at).
DROP FUNCTION IF EXISTS keeper.claim_lanes(int, text[], text, int);
CREATE OR REPLACE FUNCTION keeper.claim_lanes(q int, owners text[], at_node text, batch int, from_place bigint)
RETURNS SETOF keeper.handed
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  wanted int := cardinality(owners);
  moment timestamptz := clock_timestamp();
  lease interval;
  last_seq bigint;
  old pg_snapshot;
  seen pg_snapshot;
  is_new boolean;
  taken text[] := '{}';
  taken_now text[];
  epochs bigint[] := '{}';
  epochs_now bigint[];
  holders text[] := '{}';
  holders_now text[];
  begins bigint := from_place;
  untied bigint[];
  most_untied int := 4096;
  left_after bigint;
  are_bundles_left boolean := false;
  fresh text[];
  firsts bigint[];
  dues timestamptz[];
  existing text[] := '{}';
  busy text[] := '{}';
  made_now text[];
  shared text[] := '{}';
  is_late boolean := false;
  is_ready boolean;
  reader keeper.reader;
  -- Whether a reader is gone that may have had messages in hand.
  has_taken_over boolean := false;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT keeper.micros(k.lock_us) INTO lease FROM keeper.queue k WHERE k.id = q;
  SELECT d.known, d.left_after INTO old, left_after FROM keeper.discovery d WHERE d.queue = q;
  SELECT EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid >= pg_snapshot_xmax(old))
      OR EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old))))
      OR left_after IS NOT NULL
      OR EXISTS (SELECT FROM keeper.bundle b WHERE b.queue::bigint = q AND b.xid >= pg_snapshot_xmax(old))
      OR EXISTS (SELECT FROM keeper.bundle b WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old))))
      OR EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q)
    INTO is_new;
  SELECT * INTO reader FROM keeper.reader r WHERE r.queue = q;
  IF FOUND THEN
    is_new := reader.until <= moment;
  END IF;

  IF wanted > 0 THEN
    last_seq := (SELECT s.last_value + 63 FROM keeper.message_seq s);
    FOR part IN 1 .. CASE WHEN from_place > 0 THEN 2 ELSE 1 END LOOP
      -- lane_ready. Who waits longest comes first; a lane that somebody else takes right now is not waited for.
      WITH next AS MATERIALIZED (
             SELECT r.place_of, row_number() OVER () AS n
               FROM (SELECT l.ctid AS place_of FROM keeper.lane l
                      WHERE l.queue::bigint = q AND l.status = 0
                        AND l.place >= CASE part WHEN 1 THEN from_place ELSE 0 END
                      ORDER BY l.place LIMIT wanted - cardinality(taken) FOR NO KEY UPDATE SKIP LOCKED) r),
           held AS (
             UPDATE keeper.lane l
                SET status = 1, owner = owners[cardinality(taken) + next.n], node = at_node,
                    epoch = nextval('keeper.epoch_seq'), until = moment + lease, reached = last_seq, handed = NULL,
                    held_since = moment
               FROM next WHERE l.ctid = next.place_of
             RETURNING l.session, l.place, l.epoch, l.owner)
      SELECT array_agg(h.session), array_agg(h.epoch), array_agg(h.owner), GREATEST(max(h.place), begins)
        INTO taken_now, epochs_now, holders_now, begins FROM held h;
      taken := taken || COALESCE(taken_now, '{}');
      epochs := epochs || COALESCE(epochs_now, '{}');
      holders := holders || COALESCE(holders_now, '{}');
      EXIT WHEN cardinality(taken) = wanted;
    END LOOP;
  END IF;

  IF is_new THEN
    is_new := keeper.lock_discovery(q, cardinality(taken) = 0);
    is_late := NOT is_new;
  END IF;
  IF is_new THEN
    DELETE FROM keeper.reader r WHERE r.queue = q AND r.until <= moment;
    has_taken_over := FOUND;
    IF has_taken_over THEN
      PERFORM keeper.fold_notes(q);
    END IF;
    -- Somebody may have begun to read this moment.
    is_new := NOT EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q);
  END IF;
  IF is_new THEN
    -- Locked first and read in a later statement: its snapshot is then younger than every one that was stored before.
    SELECT d.known, d.left_after INTO old, left_after FROM keeper.discovery d WHERE d.queue = q;
    -- What is left of a pile comes before everything newer.
    seen := CASE WHEN left_after IS NULL THEN pg_current_snapshot() ELSE old END;
    IF has_taken_over THEN
      -- All that it can have read, and more. What it had in hand for longer than a second has a lane, whose attempt is
      -- counted. The rest counts no attempt, because most of it was in nobody's hands. But from now on it has lanes, so a
      -- message that ends its process at once is counted from its second time on: the snapshot below sees it, and
      -- relieve_lanes leaves it there.
      most_untied := 70000;
    END IF;
    -- In the order of their numbers, which is that of sends that did not overlap.
    SELECT array_agg(p.first_seq ORDER BY p.first_seq) FILTER (WHERE p.n < most_untied + 64),
           bool_or(p.n >= most_untied + 64)
      INTO untied, are_bundles_left
      FROM (SELECT b.first_seq, sum(b.open) OVER (ORDER BY b.first_seq) AS n
              FROM keeper.undiscovered(q, old, left_after) b
             WHERE pg_visible_in_snapshot(b.xid, seen)) p;
    are_bundles_left := COALESCE(are_bundles_left, false);
    -- message_new. Between two snapshots exactly those transactions become visible that are not below the old xmax or
    -- were running then: nothing is skipped, however late it commits, and nothing is read twice. (Replayed ones: what is
    -- sent comes as a bundle.)
    SELECT array_agg(n.session ORDER BY n.first), array_agg(n.first ORDER BY n.first),
           array_agg(n.due ORDER BY n.first)
      INTO fresh, firsts, dues
      FROM (SELECT m.session, min(m.seq) AS first,
                   CASE WHEN min(m.seq) = min(m.seq) FILTER (WHERE m.due_at > moment)
                        THEN min(m.due_at) FILTER (WHERE m.due_at > moment) END AS due
              FROM (SELECT a.session, a.seq, a.due_at FROM keeper.message a
                     WHERE a.queue::bigint = q AND a.xid >= pg_snapshot_xmax(old) AND pg_visible_in_snapshot(a.xid, seen)
                     UNION ALL
                    SELECT b.session, b.seq, b.due_at FROM keeper.message b
                     WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))
                       AND pg_visible_in_snapshot(b.xid, seen)
                     UNION ALL
                    SELECT u.of_session, u.of_seq, u.due FROM keeper.untie(q, untied, NULL) u) m
             GROUP BY m.session) n;
    UPDATE keeper.discovery d
       SET known = seen, left_after = CASE WHEN are_bundles_left THEN untied[cardinality(untied)] END, node = at_node, asked_at = CASE WHEN d.node <> at_node THEN moment ELSE d.asked_at END
     WHERE d.queue = q;
    is_late := EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q);
    IF is_late THEN
      existing := keeper.place_late_sessions(q, -1);
    END IF;
    IF cardinality(fresh) > 0 THEN
      -- Key share: it meets only those who delete a lane, and these look again for messages once they have it. A lane that
      -- somebody may be deleting is not waited for, because discovery is locked: such sessions come in a later round.
      SELECT s.shared, s.busy INTO shared, busy FROM keeper.share_lanes(q, fresh) s;
      existing := existing || shared;
      last_seq := (SELECT s.last_value + 63 FROM keeper.message_seq s);
      WITH missing AS (
             SELECT f.session, f.first, f.due, row_number() OVER (ORDER BY (f.due IS NOT NULL), f.first) AS n
               FROM unnest(fresh, firsts, dues) f(session, first, due)
              WHERE (f.session IN (SELECT unnest(shared || busy))) IS NOT TRUE),
           made AS (
             INSERT INTO keeper.lane (queue, session, status, place, until, epoch, reached, owner, node, held_since)
             SELECT q, n.session,
                    CASE WHEN n.due IS NOT NULL THEN 2 WHEN n.n <= wanted - cardinality(taken) THEN 1 ELSE 0 END,
                    GREATEST(n.first, from_place),
                    CASE WHEN n.due IS NOT NULL THEN n.due WHEN n.n <= wanted - cardinality(taken) THEN moment + lease END,
                    CASE WHEN n.due IS NULL AND n.n <= wanted - cardinality(taken) THEN nextval('keeper.epoch_seq') ELSE 0 END,
                    CASE WHEN n.due IS NULL AND n.n <= wanted - cardinality(taken) THEN last_seq ELSE 0 END,
                    CASE WHEN n.due IS NULL AND n.n <= wanted - cardinality(taken) THEN owners[cardinality(taken) + n.n] END,
                    CASE WHEN n.due IS NULL AND n.n <= wanted - cardinality(taken) THEN at_node END,
                    CASE WHEN n.due IS NULL AND n.n <= wanted - cardinality(taken) THEN moment END
               FROM missing n
             ON CONFLICT DO NOTHING
             RETURNING session, status, epoch, owner)
      SELECT array_agg(m.session), array_agg(m.session) FILTER (WHERE m.status = 1),
             array_agg(m.epoch) FILTER (WHERE m.status = 1), array_agg(m.owner) FILTER (WHERE m.status = 1)
        INTO made_now, taken_now, epochs_now, holders_now FROM made m;
      taken := taken || COALESCE(taken_now, '{}');
      epochs := epochs || COALESCE(epochs_now, '{}');
      holders := holders || COALESCE(holders_now, '{}');
      IF cardinality(COALESCE(made_now, '{}') || shared || busy) < cardinality(fresh) THEN
        -- A lane was made meanwhile: it exists when the next round looks.
        busy := busy || ARRAY(SELECT unnest(fresh) EXCEPT SELECT unnest(made_now || shared || busy));
      END IF;
      PERFORM keeper.come_back_to(q, busy);
      is_late := is_late OR cardinality(busy) > 0;
    END IF;
    RETURN QUERY
      SELECT 2::smallint, l.session, l.epoch, NULL::timestamptz, l.node, NULL::bigint, NULL::int, NULL::smallint,
             NULL::boolean, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::bigint,
             NULL::text, NULL::text, NULL::bytea, NULL::text, NULL::int
        FROM unnest(existing) f(session)
             CROSS JOIN LATERAL (SELECT * FROM keeper.lane x WHERE x.queue = q AND x.session = f.session OFFSET 0) l
       WHERE l.status = 1 AND (l.session IN (SELECT unnest(taken))) IS NOT TRUE;
  END IF;

  -- In a statement of its own: it must see what earlier owners of these lanes have deleted. What does not fit into an answer
  -- under locks is read by look_lanes: such a lane has a row without a message, with the flag set.
  RETURN QUERY
    SELECT 1::smallint, r.session, r.epoch, moment + lease, r.owner, CASE WHEN r.fits THEN r.seq END, r.attempts,
           r.form & 3::smallint, CASE WHEN r.fits THEN r.expires_at <= moment AND NOT keeper.is_frozen(q, r.session) ELSE true END, r.enqueued_at, r.due_at,
           r.not_before, r.ttl_us, r.message_id, r.content_type,
           CASE WHEN NOT r.fits THEN NULL WHEN r.form < 4 THEN r.body ELSE keeper.shared_body(r.body) END,
           CASE WHEN r.fits THEN r.properties END, r.replays
      FROM (SELECT w.*, COALESCE(w.upto <= keeper.most_with_locks(), true) AS fits
              FROM (SELECT t.session, t.epoch, t.owner, m.seq, m.attempts, m.form, m.expires_at, m.enqueued_at, m.due_at,
                           m.not_before, m.ttl_us, m.message_id, m.content_type, m.body, m.properties, m.replays, m.n, m.size,
                           sum(m.size) OVER (ROWS UNBOUNDED PRECEDING) AS upto
                      FROM unnest(taken, epochs, holders) t(session, epoch, owner)
                      LEFT JOIN LATERAL (
                        SELECT y.*, row_number() OVER () AS n,
                               keeper.body_size(y.form, y.body) + COALESCE(octet_length(y.properties), 0) + 300 AS size
                          FROM (SELECT * FROM keeper.message x WHERE x.queue = q AND x.session = t.session
                                 ORDER BY x.seq LIMIT batch) y) m ON true) w) r
     WHERE r.fits OR r.n = 1 OR r.upto - r.size <= keeper.most_with_locks();

  IF cardinality(taken) = 0 THEN
    -- Nobody was promised anything: what a crash takes away of this is discovered again, so its commit waits for no disk.
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  is_ready := EXISTS (SELECT FROM keeper.lane l WHERE l.queue::bigint = q AND l.status = 0 AND l.place >= begins);
  IF NOT is_ready THEN
    is_ready := EXISTS (SELECT FROM keeper.lane l WHERE l.queue::bigint = q AND l.status = 0);
  END IF;
  RETURN NEXT (0::smallint, NULL, NULL, moment, CASE WHEN reader.until > moment THEN reader.node END, begins,
               are_bundles_left::int, is_late::int::smallint, is_ready, NULL,
               (SELECT min(d.due) FROM unnest(dues) d(due) WHERE d.due > moment), NULL, NULL, NULL, NULL, NULL, NULL, NULL)::keeper.handed;
END $$;

-- The next messages of held lanes. Those at or below "reached" are known to be in the owner's hands if its lease runs out.
CREATE OR REPLACE FUNCTION keeper.fetch_lanes(q int, sessions text[], epochs bigint[], most int[])
RETURNS SETOF keeper.handed
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  last_seq bigint := (SELECT s.last_value + 63 FROM keeper.message_seq s);
BEGIN
  -- A crash may take this away: an attempt of a message that was in hand just then is not counted. Nobody waits for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE keeper.lane l SET reached = last_seq
   WHERE l.ctid = ANY (ARRAY(
     SELECT mine.place_of
       FROM unnest(sessions, epochs) f(session, epoch)
            CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.epoch, x.status, x.until, x.reached FROM keeper.lane x
                                 WHERE x.queue = q AND x.session = f.session OFFSET 0) mine
      WHERE mine.epoch = f.epoch AND mine.status = 1 AND mine.until > moment
        AND EXISTS (SELECT FROM keeper.message m WHERE m.queue = q AND m.session = f.session AND m.seq > mine.reached)));
  RETURN QUERY
    SELECT CASE WHEN r.lane IS NULL THEN 3 ELSE 1 END::smallint, r.session, r.epoch, r.until, r.owner,
           CASE WHEN r.fits THEN r.seq END, r.attempts, r.form & 3::smallint,
           CASE WHEN r.fits THEN r.expires_at <= moment AND NOT keeper.is_frozen(q, r.session) ELSE true END, r.enqueued_at, r.due_at, r.not_before, r.ttl_us,
           r.message_id, r.content_type,
           CASE WHEN NOT r.fits THEN NULL WHEN r.form < 4 THEN r.body ELSE keeper.shared_body(r.body) END,
           CASE WHEN r.fits THEN r.properties END, r.replays
      FROM (SELECT w.*, COALESCE(w.upto <= keeper.most_with_locks(), true) AS fits
              FROM (SELECT f.session, f.epoch, l.session AS lane, l.until, l.owner, m.seq, m.attempts, m.form, m.expires_at,
                           m.enqueued_at, m.due_at, m.not_before, m.ttl_us, m.message_id, m.content_type, m.body, m.properties,
                           m.replays, m.n, m.size, sum(m.size) OVER (ROWS UNBOUNDED PRECEDING) AS upto
                      FROM unnest(sessions, epochs, most) f(session, epoch, most)
                      LEFT JOIN LATERAL (SELECT * FROM (SELECT * FROM keeper.lane x WHERE x.queue = q AND x.session = f.session OFFSET 0) y
                                          WHERE y.epoch = f.epoch AND y.status = 1 AND y.until > moment) l ON true
                      LEFT JOIN LATERAL (
                        SELECT y.*, row_number() OVER () AS n,
                               keeper.body_size(y.form, y.body) + COALESCE(octet_length(y.properties), 0) + 300 AS size
                          FROM (SELECT * FROM keeper.message x
                                 WHERE x.queue = q AND x.session = f.session AND l.session IS NOT NULL AND l.aside IS NULL
                                 ORDER BY x.seq LIMIT f.most) y) m ON true) w) r
     WHERE r.fits OR r.n = 1 OR r.upto - r.size <= keeper.most_with_locks();
  RETURN NEXT (0::smallint, NULL, NULL, moment, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, NULL)::keeper.handed;
END $$;

-- Messages of held lanes that were too much for claim_lanes or fetch_lanes, behind those that came with these. It locks and
-- writes nothing, so a client may take its time. Every lane gets its first message as long as these fit into the bytes, and
-- more while they fit into its part of them; the first lane gets one in any case.
CREATE OR REPLACE FUNCTION keeper.look_lanes(q int, sessions text[], epochs bigint[], afters bigint[], most int[], most_bytes bigint)
RETURNS SETOF keeper.handed
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  part bigint := most_bytes / (2 * GREATEST(1, cardinality(sessions)));
BEGIN
  RETURN QUERY
    SELECT 1::smallint, r.session, r.epoch, r.until, r.owner, r.seq, r.attempts, r.form & 3::smallint,
           r.expires_at <= moment AND NOT keeper.is_frozen(q, r.session),
           r.enqueued_at, r.due_at, r.not_before, r.ttl_us, r.message_id, r.content_type,
           CASE WHEN r.form < 4 THEN r.body ELSE keeper.shared_body(r.body) END, r.properties, r.replays
      FROM (SELECT f.session, f.epoch, l.until, l.owner, m.*,
                   sum(m.size) FILTER (WHERE m.n = 1) OVER (ROWS UNBOUNDED PRECEDING) AS heads,
                   first_value(m.size) OVER (ROWS UNBOUNDED PRECEDING) AS first_size
              FROM unnest(sessions, epochs, afters, most) f(session, epoch, after, most)
                   CROSS JOIN LATERAL (SELECT * FROM (SELECT * FROM keeper.lane x WHERE x.queue = q AND x.session = f.session OFFSET 0) y
                                        WHERE y.epoch = f.epoch AND y.status = 1 AND y.until > moment AND y.aside IS NULL) l
                   CROSS JOIN LATERAL (
                     SELECT z.seq, z.attempts, z.form, z.expires_at, z.enqueued_at, z.due_at, z.not_before, z.ttl_us, z.message_id,
                            z.content_type, z.body, z.properties, z.replays, z.size, row_number() OVER () AS n,
                            sum(z.size) OVER (ROWS UNBOUNDED PRECEDING) AS of_lane
                       FROM (SELECT x.*, keeper.body_size(x.form, x.body) + COALESCE(octet_length(x.properties), 0) + 300 AS size
                               FROM keeper.message x
                              WHERE x.queue = q AND x.session = f.session AND x.seq > f.after
                              ORDER BY x.seq LIMIT f.most) z) m) r
     WHERE (r.heads <= most_bytes / 2 OR r.heads = r.first_size) AND (r.n = 1 OR r.of_lane <= part);
  RETURN NEXT (0::smallint, NULL, NULL, moment, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, NULL)::keeper.handed;
END $$;

-- Locks one session by name. outcome: held (by me now), none, locked, aside.
CREATE OR REPLACE FUNCTION keeper.accept_lane(q int, of_session text, new_owner text, at_node text, of_shard bigint,
  OUT outcome text, OUT new_epoch bigint, OUT until_at timestamptz, OUT aside_status smallint, OUT why text, OUT since_at timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET lock_timeout = '1s'
AS $$
DECLARE
  lane keeper.lane;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  BEGIN
    SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE;
  EXCEPTION WHEN lock_not_available THEN
    -- Its owner is settling in a transaction that lasts, and has it as long as that.
    SELECT l.until INTO until_at FROM keeper.lane l WHERE l.queue = q AND l.session = of_session;
    outcome := 'locked';
    until_at := GREATEST(until_at, clock_timestamp());
    RETURN;
  END;
  IF FOUND AND lane.status IN (1, 2) AND lane.until <= clock_timestamp() THEN
    IF lane.status = 1 THEN
      PERFORM keeper.end_lease(q, of_session, of_shard);
    END IF;
    PERFORM keeper.place_lane(q, of_session, of_shard);
    SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session;
  ELSIF lane.status = 0 THEN
    PERFORM keeper.place_lane(q, of_session, of_shard);
    SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session;
  END IF;
  CASE
    WHEN lane.status IS NULL OR lane.status = 2 THEN
      outcome := 'none';
    WHEN lane.status = 1 THEN
      outcome := 'locked';
      until_at := lane.until;
    WHEN lane.status = 0 THEN
      UPDATE keeper.lane l
         SET status = 1, owner = new_owner, node = at_node, epoch = nextval('keeper.epoch_seq'), reached = 0,
             handed = NULL, held_since = clock_timestamp(), until = clock_timestamp() + (SELECT keeper.micros(k.lock_us) FROM keeper.queue k WHERE k.id = q)
       WHERE l.queue = q AND l.session = of_session
      RETURNING 'held', l.epoch, l.until INTO outcome, new_epoch, until_at;
    ELSE
      outcome := 'aside';
      aside_status := lane.status;
      why := lane.reason;
      since_at := lane.since;
  END CASE;
END $$;

-- Nothing was received since the lane was claimed with its first messages: they are not in hand after all.
CREATE OR REPLACE FUNCTION keeper.not_in_hand(q int, sessions text[], epochs bigint[]) RETURNS void
LANGUAGE sql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
  UPDATE keeper.lane l SET reached = 0
   WHERE l.ctid = ANY (ARRAY(
     SELECT mine.place_of
       FROM unnest(sessions, epochs) f(session, epoch)
            CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.epoch, x.status FROM keeper.lane x
                                 WHERE x.queue = q AND x.session = f.session OFFSET 0 FOR NO KEY UPDATE) mine
      WHERE mine.epoch = f.epoch AND mine.status = 1));
$$;

-- Extends leases; tells the new end of each that is still held, and no end for one that its own owner is settling at this moment
-- in a transaction: no lease waits for another session's commit.
CREATE OR REPLACE FUNCTION keeper.renew_lanes(q int, sessions text[], epochs bigint[])
RETURNS TABLE (session text, epoch bigint, until timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  places tid[];
  locked text[];
BEGIN
  SELECT array_agg(mine.place_of) FILTER (WHERE mine.epoch = f.epoch AND mine.status = 1 AND mine.until > clock_timestamp()),
         array_agg(f.session)
    INTO places, locked
    FROM unnest(sessions, epochs) f(session, epoch)
         CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.epoch, x.status, x.until FROM keeper.lane x
                              WHERE x.queue = q AND x.session = f.session OFFSET 0 FOR NO KEY UPDATE SKIP LOCKED) mine;
  IF cardinality(places) > 0 THEN
    RETURN QUERY
      UPDATE keeper.lane l SET until = clock_timestamp() + (SELECT keeper.micros(k.lock_us) FROM keeper.queue k WHERE k.id = q)
       WHERE l.ctid = ANY (places)
      RETURNING l.session, l.epoch, l.until;
  END IF;
  IF COALESCE(cardinality(locked), 0) < cardinality(sessions) THEN
    RETURN QUERY
      SELECT f.session, f.epoch, NULL::timestamptz
        FROM unnest(sessions, epochs) f(session, epoch)
             CROSS JOIN LATERAL (SELECT x.epoch, x.status, x.until FROM keeper.lane x
                                  WHERE x.queue = q AND x.session = f.session OFFSET 0) l
       WHERE l.epoch = f.epoch AND l.status = 1 AND l.until > clock_timestamp()
         AND (f.session IN (SELECT unnest(locked))) IS NOT TRUE;
  END IF;
END $$;

-- queues/R__3_settle.sql
-- Ends deliveries and gives lanes back.

-- Deletes completed messages, but for those of some sessions (NULL: none), and counts them. The caller has seen to it that
-- nobody else can.
CREATE OR REPLACE FUNCTION keeper.complete_messages(q int, done_sessions text[], done_seqs bigint[], except_of text[],
  lenient boolean, of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  expected int := cardinality(done_seqs);
  deleted int;
BEGIN
  IF except_of IS NOT NULL THEN
    SELECT COALESCE(array_agg(d.session), '{}'), COALESCE(array_agg(d.seq), '{}') INTO done_sessions, done_seqs
      FROM unnest(done_sessions, done_seqs) d(session, seq)
     WHERE (d.session IN (SELECT unnest(except_of))) IS NOT TRUE;
    expected := cardinality(done_seqs);
  END IF;
  DELETE FROM keeper.message m
   WHERE m.ctid = ANY (ARRAY(
     SELECT found.place_of
       FROM unnest(done_sessions, done_seqs) d(session, seq)
            CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.session FROM keeper.message x
                                 WHERE x.queue + 0 = q AND x.seq = d.seq OFFSET 0) found
      WHERE found.session = d.session));
  GET DIAGNOSTICS deleted = ROW_COUNT;
  IF deleted <> expected AND NOT lenient THEN
    RAISE EXCEPTION 'a settled message is gone' USING ERRCODE = 'SK001';
  END IF;
  IF deleted > 0 THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, deleted, 0);
  END IF;
END $$;

-- Completes messages of bundles, each mask with their bits, and counts them: a note for those that have more (firsts), and those that
-- have not (complete) go, with masks of zero where they had nothing left before. Only the reader calls it.
DROP FUNCTION IF EXISTS keeper.complete_bundled(int, bigint[], bigint[], boolean, bigint);
CREATE OR REPLACE FUNCTION keeper.complete_bundled(q int, of_note bigint, firsts bigint[], masks bigint[], complete bigint[],
  complete_masks bigint[], lenient boolean, of_shard bigint)
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  completed bigint;
  gone_now int;
BEGIN
  IF lenient THEN
    -- Some of it may have been done before, without an answer.
    SELECT COALESCE(sum(bit_count((u.mask & ~(b.done | COALESCE(n.mask, 0)))::bit(64))), 0) INTO completed
      FROM (SELECT * FROM unnest(firsts, masks) UNION ALL SELECT * FROM unnest(complete, complete_masks)) u(first, mask)
           CROSS JOIN LATERAL (SELECT x.done FROM keeper.bundle x WHERE x.queue = q AND x.first_seq = u.first OFFSET 0) b
           LEFT JOIN (SELECT * FROM keeper.noted x WHERE x.queue = q OFFSET 0) n ON n.first = u.first;
  ELSE
    SELECT COALESCE(sum(bit_count(u.mask::bit(64))), 0) INTO completed FROM unnest(masks || complete_masks) u(mask);
  END IF;
  IF cardinality(firsts) > 0 THEN
    INSERT INTO keeper.completion VALUES (q, of_note, firsts, masks) ON CONFLICT DO NOTHING;
    IF NOT (FOUND OR lenient) THEN
      RAISE EXCEPTION 'note % was written before', of_note;
    END IF;
  END IF;
  IF cardinality(complete) > 0 THEN
    -- bundle_pkey
    DELETE FROM keeper.bundle b WHERE b.queue = q AND b.first_seq = ANY (complete);
    GET DIAGNOSTICS gone_now = ROW_COUNT;
    IF gone_now < cardinality(array_remove(complete_masks, 0)) AND NOT lenient THEN
      RAISE EXCEPTION 'a settled message is gone' USING ERRCODE = 'SK001';
    END IF;
  END IF;
  IF completed > 0 THEN
    UPDATE keeper.tally t SET gone = t.gone + completed WHERE t.queue = q AND t.shard = of_shard;
    IF NOT FOUND THEN
      PERFORM keeper.add_to_tally(q, of_shard, 0, completed, 0);
    END IF;
  END IF;
END $$;

-- The common case for many sessions at once: messages completed, lanes given back. kept/freed: lanes that stay held / are
-- given back, with their epochs; done: completed messages. Returns the sessions whose lease is not held any more; nothing
-- was changed for these. Sessions come in order, so that nobody waits in a circle. Nor does a call wait for long: when a lane is
-- locked for a second it fails as a whole, and the caller settles each session alone. A lenient call is a repetition: what is missing was done by the first one.
CREATE OR REPLACE FUNCTION keeper.settle_lanes(q int, kept text[], kept_epochs bigint[], freed text[],
  freed_epochs bigint[], done_sessions text[], done_seqs bigint[], lenient boolean, of_shard bigint)
RETURNS SETOF text
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
SET lock_timeout = '1s'
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  asked int := cardinality(kept) + cardinality(freed);
  keeping text[];
  freeing text[];
  freeing_at tid[];
  asides smallint[];
  empty_at tid[];
  full_at tid[];
  dues timestamptz[];
  lost text[];
  is_frozen boolean := false;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- The fence. No key update: discovery, which takes key shares, is not waited for.
  IF cardinality(kept) > 0 THEN
    SELECT array_agg(f.session), COALESCE(bool_or(l.frozen_since IS NOT NULL), false) INTO keeping, is_frozen
      FROM unnest(kept, kept_epochs) f(session, epoch)
           CROSS JOIN LATERAL (SELECT x.epoch, x.status, x.until, x.frozen_since FROM keeper.lane x
                                WHERE x.queue = q AND x.session = f.session OFFSET 0 FOR NO KEY UPDATE) l
     WHERE l.epoch = f.epoch AND l.status = 1 AND l.until > moment;
  END IF;
  -- A lane that may be deleted is locked against discovery too; then a later statement looks for messages.
  IF cardinality(freed) > 0 THEN
    SELECT array_agg(f.session), array_agg(l.place_of), array_agg(l.aside),
           is_frozen OR COALESCE(bool_or(l.frozen_since IS NOT NULL), false)
      INTO freeing, freeing_at, asides, is_frozen
      FROM unnest(freed, freed_epochs) f(session, epoch)
           CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.epoch, x.status, x.until, x.aside, x.frozen_since FROM keeper.lane x
                                WHERE x.queue = q AND x.session = f.session OFFSET 0 FOR UPDATE) l
     WHERE l.epoch = f.epoch AND l.status = 1 AND l.until > moment;
  END IF;

  IF COALESCE(cardinality(keeping), 0) + COALESCE(cardinality(freeing), 0) < asked THEN
    lost := ARRAY(SELECT a.session FROM unnest(kept || freed) a(session)
                   WHERE (a.session IN (SELECT unnest(keeping || freeing))) IS NOT TRUE);
    RETURN QUERY SELECT unnest(lost);
  END IF;
  PERFORM keeper.complete_messages(q, done_sessions, done_seqs, lost, lenient, of_shard);

  IF cardinality(freeing) > 0 THEN
    SELECT array_agg(f.place_of) FILTER (WHERE head.seq IS NULL AND f.aside IS NULL),
           array_agg(f.place_of) FILTER (WHERE head.seq IS NOT NULL OR f.aside IS NOT NULL),
           array_agg(head.due_at) FILTER (WHERE head.seq IS NOT NULL OR f.aside IS NOT NULL)
      INTO empty_at, full_at, dues
      FROM unnest(freeing, freeing_at, asides) f(session, place_of, aside)
           LEFT JOIN LATERAL (SELECT m.seq, m.due_at FROM keeper.message m
                               WHERE m.queue = q AND m.session = f.session ORDER BY m.seq LIMIT 1) head ON true;
    IF cardinality(empty_at) > 0 THEN
      DELETE FROM keeper.lane l WHERE l.ctid = ANY (empty_at);
    END IF;
    IF cardinality(full_at) > 0 THEN
      UPDATE keeper.lane l
         SET status = CASE WHEN l.aside IS NOT NULL THEN l.aside WHEN h.due_at > moment THEN 2 ELSE 0 END,
             until = CASE WHEN l.aside IS NULL AND h.due_at > moment THEN h.due_at END,
             place = nextval('keeper.message_seq'), owner = NULL, node = NULL, reached = 0, handed = NULL
        FROM unnest(full_at, dues) h(place_of, due_at)
       WHERE l.ctid = h.place_of;
    END IF;
  END IF;
  IF is_frozen THEN
    -- Last, because rows were found by their place above. The first message of such a session has gone.
    PERFORM keeper.thaw_lane(q, d.session)
       FROM (SELECT DISTINCT u.session FROM unnest(done_sessions) u(session)
              WHERE (u.session IN (SELECT unnest(lost))) IS NOT TRUE) d;
  END IF;
END $$;

-- One call of one session with everything that a settlement can be, and with state. acts: 0 complete, 1 retry,
-- 2 dead-letter, 3 park, 4 expired, 5 postpone (a retry that counts no attempt).  shared: what is in hand is in the lane, because several processes use the lease.
-- outcome: ok (detail = the
-- new version of the state), lost, order (detail = the message that is open, or none), stale (detail = the version that is there).
CREATE OR REPLACE FUNCTION keeper.settle_session(q int, of_session text, of_epoch bigint, shared boolean,
  seqs bigint[], acts smallint[], delays_us bigint[], limits boolean[], reasons text[], errors text[],
  state_bytes bytea, state_version bigint, of_shard bigint, OUT outcome text, OUT detail bigint, OUT at_seq bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  lane keeper.lane;
  in_hand bigint[];
  version_now bigint;
  completed int := 0;
  i int;
BEGIN
  SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE;
  IF NOT FOUND OR lane.status <> 1 OR lane.epoch <> of_epoch OR lane.until <= clock_timestamp() THEN
    outcome := 'lost';
    RETURN;
  END IF;

  in_hand := CASE WHEN shared AND lane.handed IS NOT NULL THEN lane.handed
                  WHEN shared THEN ARRAY(SELECT m.seq FROM keeper.message m
                                          WHERE m.queue = q AND m.session = of_session AND m.seq <= lane.reached
                                          ORDER BY m.seq LIMIT cardinality(seqs))
                  ELSE seqs END;
  FOR i IN 1 .. cardinality(seqs) LOOP
    IF i > cardinality(in_hand) OR in_hand[i] <> seqs[i] OR NOT EXISTS (
         SELECT FROM keeper.message m WHERE m.queue = q AND m.session = of_session AND m.seq = seqs[i]) THEN
      outcome := 'order';
      at_seq := seqs[i];
      detail := CASE WHEN i <= cardinality(in_hand) AND in_hand[i] <> seqs[i] THEN in_hand[i] END;
      RETURN;
    END IF;
  END LOOP;

  IF state_bytes IS NOT NULL THEN
    SELECT s.version INTO version_now FROM keeper.session_state s
     WHERE s.queue = q AND s.session = of_session FOR UPDATE;
    version_now := COALESCE(version_now, 0);
    IF state_version <> -1 AND state_version <> version_now THEN
      outcome := 'stale';
      detail := version_now;
      RETURN;
    END IF;
    detail := keeper.put_state(q, of_session, state_bytes);
  END IF;

  FOR i IN 1 .. cardinality(seqs) LOOP
    CASE acts[i]
      WHEN 0 THEN
        DELETE FROM keeper.message m WHERE m.queue = q AND m.session = of_session AND m.seq = seqs[i];
        completed := completed + 1;
        IF lane.frozen_since IS NOT NULL THEN
          PERFORM keeper.thaw_lane(q, of_session);
        END IF;
      WHEN 1 THEN
        PERFORM keeper.fail_head(q, of_session, seqs[i], delays_us[i], limits[i], reasons[i], of_shard);
      WHEN 2 THEN
        PERFORM keeper.bury(q, of_session, seqs[i], 1, reasons[i], errors[i], of_shard);
        IF lane.frozen_since IS NOT NULL THEN
          PERFORM keeper.thaw_lane(q, of_session);
        END IF;
      WHEN 3 THEN
        UPDATE keeper.message m SET attempts = m.attempts + 1, last_error = reasons[i], failed_at = clock_timestamp()
         WHERE m.queue = q AND m.session = of_session AND m.seq = seqs[i];
        UPDATE keeper.lane l
           SET aside = 3, reason = reasons[i], since = clock_timestamp(),
               frozen_since = COALESCE(l.frozen_since, clock_timestamp())
         WHERE l.queue = q AND l.session = of_session;
      WHEN 4 THEN
        PERFORM keeper.bury(q, of_session, seqs[i], 0, 'expired', NULL, of_shard);
      WHEN 5 THEN
        UPDATE keeper.message m
           SET last_error = reasons[i], failed_at = clock_timestamp(), due_at = clock_timestamp() + keeper.micros(delays_us[i])
         WHERE m.queue = q AND m.session = of_session AND m.seq = seqs[i];
    END CASE;
  END LOOP;
  IF completed > 0 THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, completed, 0);
  END IF;

  -- What was handed out behind a message that comes again is void (S-04).
  IF cardinality(seqs) > 0 AND acts[cardinality(seqs)] IN (1, 3, 5) THEN
    UPDATE keeper.lane l SET reached = 0, handed = CASE WHEN l.handed IS NOT NULL THEN '{}'::bigint[] END
     WHERE l.queue = q AND l.session = of_session;
  ELSIF lane.handed IS NOT NULL THEN
    UPDATE keeper.lane l SET handed = lane.handed[cardinality(seqs) + 1 :]
     WHERE l.queue = q AND l.session = of_session;
  END IF;
  outcome := 'ok';
END $$;

-- Such calls of several sessions in one commit. Sessions come in order, each once; sizes: how many settlements belong to each. Every
-- call has its own outcome, and those that are not ok have changed nothing.
CREATE OR REPLACE FUNCTION keeper.settle_each(q int, sessions text[], epochs bigint[], shareds boolean[], sizes int[], seqs bigint[],
  acts smallint[], delays_us bigint[], limits boolean[], reasons text[], errors text[], states bytea[], versions bigint[], of_shard bigint)
RETURNS TABLE (outcome text, detail bigint, at_seq bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET lock_timeout = '1s'
AS $$
DECLARE
  upto int := 0;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- All lanes before the first count: who has one of them and wants to count must not be waited for in a circle.
  PERFORM 1 FROM unnest(sessions) s(session)
     CROSS JOIN LATERAL (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = s.session OFFSET 0 FOR UPDATE) x;
  FOR i IN 1 .. cardinality(sessions) LOOP
    upto := upto + sizes[i];
    RETURN QUERY
      SELECT * FROM keeper.settle_session(q, sessions[i], epochs[i], shareds[i], seqs[upto - sizes[i] + 1 : upto],
        acts[upto - sizes[i] + 1 : upto], delays_us[upto - sizes[i] + 1 : upto], limits[upto - sizes[i] + 1 : upto],
        reasons[upto - sizes[i] + 1 : upto], errors[upto - sizes[i] + 1 : upto], states[i], versions[i], of_shard);
  END LOOP;
END $$;

-- Writes a session's state; the caller has the lane and has compared versions.
CREATE OR REPLACE FUNCTION keeper.put_state(q int, of_session text, state_bytes bytea) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  version_now bigint;
BEGIN
  INSERT INTO keeper.session_state AS s (queue, session, version, bytes) VALUES (q, of_session, 1, state_bytes)
  ON CONFLICT (queue, session) DO UPDATE
     SET version = s.version + 1, bytes = excluded.bytes, updated_at = clock_timestamp()
  RETURNING s.version INTO version_now;
  RETURN version_now;
END $$;

-- One message of a held lane.
CREATE OR REPLACE FUNCTION keeper.as_handed(next keeper.message, lane keeper.lane) RETURNS keeper.handed
LANGUAGE sql STABLE AS $$
  SELECT (1::smallint, next.session, lane.epoch, lane.until, lane.owner, next.seq, next.attempts, next.form & 3::smallint, false,
          next.enqueued_at, next.due_at, next.not_before, next.ttl_us, next.message_id, next.content_type,
          CASE WHEN next.form < 4 THEN next.body ELSE keeper.shared_body(next.body) END,
          next.properties, next.replays)::keeper.handed
$$;

-- Hands out messages of a lease that several processes use: what is in hand is written to the lane. A handle that
-- remembers nothing begins again at the first one in hand.
DROP FUNCTION IF EXISTS keeper.receive_shared(int, text, bigint, int);
DROP FUNCTION IF EXISTS keeper.receive_shared(int, text, bigint, int, boolean);
CREATE OR REPLACE FUNCTION keeper.receive_shared(q int, of_session text, of_epoch bigint, most int, most_bytes bigint,
                                                 again boolean)
RETURNS SETOF keeper.handed
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  lane keeper.lane;
  next keeper.message;
  out_row keeper.handed;
  new_seqs bigint[] := '{}';
  given int := 0;
  given_bytes bigint := 0;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE;
  IF NOT FOUND OR lane.status <> 1 OR lane.epoch <> of_epoch OR lane.until <= clock_timestamp() THEN
    out_row.kind := 3;
    out_row.session := of_session;
    RETURN NEXT out_row;
    RETURN;
  END IF;
  lane.handed := COALESCE(lane.handed, '{}');
  IF again THEN
    FOR next IN
      SELECT m.* FROM unnest(lane.handed) WITH ORDINALITY h(seq, n)
             CROSS JOIN LATERAL (SELECT * FROM keeper.message x
                                  WHERE x.queue = q AND x.session = of_session AND x.seq = h.seq OFFSET 0) m
       ORDER BY h.n LIMIT most
    LOOP
      out_row := keeper.as_handed(next, lane);
      given_bytes := given_bytes + octet_length(out_row.body) + COALESCE(octet_length(out_row.properties), 0);
      IF given > 0 AND given_bytes > most_bytes THEN
        most := given; -- Nothing new is handed out behind one that did not fit.
        EXIT;
      END IF;
      given := given + 1;
      RETURN NEXT out_row;
    END LOOP;
    most := most - given;
  END IF;
  IF lane.aside IS NULL AND most > 0 THEN
    FOR next IN
      SELECT * FROM keeper.message m WHERE m.queue = q AND m.session = of_session AND m.seq <> ALL (lane.handed)
       ORDER BY m.seq LIMIT most
    LOOP
      IF next.expires_at <= clock_timestamp() AND lane.frozen_since IS NULL THEN
        PERFORM keeper.bury(q, of_session, next.seq, 0, 'expired', NULL, -1);
        CONTINUE;
      END IF;
      EXIT WHEN next.due_at > clock_timestamp();
      out_row := keeper.as_handed(next, lane);
      given_bytes := given_bytes + octet_length(out_row.body) + COALESCE(octet_length(out_row.properties), 0);
      EXIT WHEN given > 0 AND given_bytes > most_bytes;
      given := given + 1;
      new_seqs := new_seqs || next.seq;
      RETURN NEXT out_row;
    END LOOP;
  END IF;
  UPDATE keeper.lane l
     SET handed = lane.handed || new_seqs,
         reached = GREATEST(CASE WHEN cardinality(lane.handed) = 0 THEN 0 ELSE l.reached END,
                            (SELECT max(s) FROM unnest(lane.handed || new_seqs) s))
   WHERE l.queue = q AND l.session = of_session;
END $$;

-- queues/R__4_operate.sql
-- What a person does to a session, and dead letters that are put back.

-- act: pause, resume, park, release, deadLetterHead, deadLetterAll.  -1 when a process carries sessions of this queue, -2 when the
-- session's row is locked: the caller gives everything back and tries again, because others wait for discovery.
CREATE OR REPLACE FUNCTION keeper.act_on_session(q int, of_session text, act text, why text, of_shard bigint) RETURNS int
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  lane keeper.lane;
  target smallint := CASE act WHEN 'PAUSE' THEN 4 WHEN 'PARK' THEN 3 END;
  changed int := 0;
  was_held boolean;
  in_hand_seq bigint;
  next_seq bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- A caller that stands still before its commit does not keep the locks for long.
  PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
  -- Who carries sessions in memory must have written them down, and nobody may begin to.
  PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp()) THEN
    RETURN -1;
  END IF;
  IF EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = of_session) THEN
    PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN -2;
    END IF;
  END IF;
  PERFORM keeper.untie_session(q, of_session);
  IF target IS NOT NULL THEN
    INSERT INTO keeper.lane (queue, session, status, place)
    VALUES (q, of_session, 0, nextval('keeper.message_seq')) ON CONFLICT DO NOTHING;
  END IF;
  SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  IF lane.status = 1 AND lane.until <= clock_timestamp() THEN
    -- It ends as a lease that ran out first: its attempt counts, whatever comes then.
    PERFORM keeper.end_lease(q, of_session, of_shard);
    UPDATE keeper.lane l SET status = 0, reached = 0, handed = NULL WHERE l.queue = q AND l.session = of_session
    RETURNING * INTO lane;
  END IF;
  was_held := lane.status = 1;

  CASE act
    WHEN 'PAUSE', 'PARK' THEN
      -- A parked session stays parked when it is paused: parking says more.
      IF lane.aside IS NULL OR (lane.aside <> target AND lane.aside <> 3) THEN
        UPDATE keeper.lane l
           SET aside = target, reason = why, since = clock_timestamp(),
               frozen_since = COALESCE(l.frozen_since, clock_timestamp())
         WHERE l.queue = q AND l.session = of_session;
        changed := 1;
      END IF;
    WHEN 'RESUME' THEN
      -- A session whose head waits goes on now, too.
      IF lane.aside IS NULL AND lane.status <> 2 THEN
        RETURN 0;
      END IF;
      UPDATE keeper.lane l SET aside = NULL, reason = NULL, since = NULL
       WHERE l.queue = q AND l.session = of_session;
      PERFORM keeper.thaw_lane(q, of_session);
      UPDATE keeper.message m SET due_at = NULL
       WHERE m.queue = q AND m.session = of_session
         AND m.seq = (SELECT min(x.seq) FROM keeper.message x WHERE x.queue = q AND x.session = of_session);
      IF was_held THEN
        RETURN 1;
      END IF;
      changed := 1;
    WHEN 'RELEASE' THEN
      IF NOT was_held THEN
        RETURN 0;
      END IF;
      changed := 1;
    WHEN 'DEAD_LETTER_HEAD', 'DEAD_LETTER_ALL' THEN
      FOR next_seq IN
        SELECT m.seq FROM keeper.message m WHERE m.queue = q AND m.session = of_session ORDER BY m.seq
      LOOP
        -- Only the first one was being tried; those handed out behind it were not.
        PERFORM keeper.bury(q, of_session, next_seq,
                            CASE WHEN was_held AND changed = 0 AND next_seq <= lane.reached THEN 1 ELSE 0 END,
                            why, NULL, of_shard);
        changed := changed + 1;
        EXIT WHEN act = 'DEAD_LETTER_HEAD';
      END LOOP;
      PERFORM keeper.thaw_lane(q, of_session);
  END CASE;
  UPDATE keeper.lane l SET status = 2, until = clock_timestamp() WHERE l.queue = q AND l.session = of_session AND l.status + 0 = 1;
  PERFORM keeper.place_lane(q, of_session, of_shard);
  RETURN changed;
END $$;

-- Puts these dead letters back with their old numbers, so that they come before newer messages of their session (D-02).
CREATE OR REPLACE FUNCTION keeper.replay(q int, ids bigint[], of_shard bigint) RETURNS int
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_bitmapscan = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  ordered boolean;
  ttl bigint;
  moved int;
  touched text[];
  one text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT k.is_ordered, k.ttl_us INTO ordered, ttl FROM keeper.queue k WHERE k.id = q;
  IF ordered THEN
    WITH letters AS (DELETE FROM keeper.dead_letter d WHERE d.queue = q AND d.id = ANY (ids) RETURNING d.*),
         back AS (
           INSERT INTO keeper.message (seq, queue, replays, form, enqueued_at, expires_at, not_before, ttl_us, session,
                                       message_id, content_type, body, properties, last_error, failed_at)
           SELECT l.seq, q, l.replays + 1, l.form, l.enqueued_at, moment + keeper.micros(COALESCE(l.ttl_us, ttl)),
                  l.not_before, l.ttl_us, l.session, l.message_id, l.content_type, l.body, l.properties,
                  NULLIF(l.last_error, ''), CASE WHEN l.last_error <> '' THEN l.dead_at END
             FROM letters l
           RETURNING session)
    SELECT count(*), array_agg(DISTINCT b.session ORDER BY b.session) INTO moved, touched FROM back b;
    -- A lane whose head waits may have a new head now. Lanes that are missing come by discovery.
    FOREACH one IN ARRAY COALESCE(touched, '{}') LOOP
      PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = one AND l.status + 0 = 2 FOR UPDATE;
      IF FOUND THEN
        PERFORM keeper.place_lane(q, one, of_shard);
      END IF;
    END LOOP;
  ELSE
    WITH letters AS (DELETE FROM keeper.dead_letter d WHERE d.queue = q AND d.id = ANY (ids) RETURNING d.*),
         back AS (
           INSERT INTO keeper.loose_message (seq, queue, replays, form, enqueued_at, expires_at, visible_at, not_before,
                                             ttl_us, message_id, content_type, body, properties, last_error)
           SELECT l.seq, q, l.replays + 1, l.form, l.enqueued_at, moment + keeper.micros(COALESCE(l.ttl_us, ttl)),
                  l.enqueued_at, l.not_before, l.ttl_us, l.message_id, l.content_type, l.body, l.properties,
                  NULLIF(l.last_error, '')
             FROM letters l
           RETURNING 1)
    SELECT count(*) INTO moved FROM back;
  END IF;
  IF moved > 0 THEN
    PERFORM keeper.add_to_tally(q, of_shard, moved, 0, -moved);
  END IF;
  RETURN moved;
END $$;

-- queues/R__5_send.sql
-- Stores messages in the order of the arrays. The same statement serves single sends, groups of them, and sends inside of
-- an application's own transaction. It touches no row that a consumer touches.

-- sessions is NULL for an unordered queue.  keys: what ids are told apart by; different within one call; NULL: the ids are
-- UUIDs and tell themselves apart.  forms, types: one element stands for all.  props, ttls, not_befores: NULL where no
-- message has any.  sizes: how many go into each bundle, at most 64 (a message with a shared body alone), and weights, how
-- many bytes these have.
-- are_unused: the sender has made all ids and uses them for the first time.  times: when ids that begin with the time were
-- made, in units of about a second, NULL where no lock is needed; span, from the first to the last millisecond; low_key, high_key: the least and the greatest of the keys.
-- One row: the first number of each bundle; the others follow it. Where ids are known already nothing is stored, and the
-- row has their keys, and the numbers of the first ones. None at all: they cannot be stored as unused ones now.
--
-- How ids are told apart (Q-03): each has a row in "duplicate", whose key is unique. Unused ones are written to "sent" instead, one
-- row for a bundle. An id may still be used by somebody else at the same time, to whom its sender gave it. Who writes to "sent" has
-- a shared lock on the times of its ids (1) until it commits; who writes ids that begin with the time to "duplicate", and is not the first to use them, has one (2). The first makes sure
-- that nobody has (2), and looks into "duplicate", or gives up and does as everybody does. The other has (2) first, waits for those who have (1), and
-- looks into "sent". So of two that use one id, one sees the other. Nobody waits longer than for a commit of unused ids, which is
-- never one of an application's own transaction.
CREATE OR REPLACE FUNCTION keeper.time_lock(q int, made_at bigint, kind bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashint8extended((q::bigint << 40) # made_at, kind) $$;

DROP FUNCTION IF EXISTS keeper.send(int, text[], text[], uuid[], smallint[], text[], bytea[], text[], bigint[],
                                    timestamptz[], bigint);
CREATE OR REPLACE FUNCTION keeper.send(q int, sessions text[], ids text[], keys uuid[], forms smallint[], types text[],
  bodies bytea[], props text[], ttls bigint[], not_befores timestamptz[], sizes int[], weights bigint[],
  are_unused boolean, times bigint[], span int8range, low_key uuid, high_key uuid, of_shard bigint,
  OUT firsts bigint[], OUT known_keys uuid[], OUT known_seqs bigint[])
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  ttl bigint;
  told_apart_by uuid[] := COALESCE(keys, ids::uuid[]);
  remembered interval;
  seqs bigint[];
  tries int := 0;
BEGIN
  SELECT k.ttl_us, keeper.micros(k.duplicate_us),
         ARRAY(SELECT nextval('keeper.message_seq') FROM generate_series(1, cardinality(sizes)))
    INTO ttl, remembered, firsts
    FROM keeper.queue k WHERE k.id = q;
  IF ttls IS NOT NULL THEN
    -- One that is too large must not be stored: nobody could read its bundle.
    PERFORM moment + keeper.micros(t.longest) FROM (SELECT max(u) FROM unnest(ttls) u) t(longest);
  END IF;
  IF remembered > interval '0' AND are_unused THEN
    SELECT bool_and(pg_try_advisory_xact_lock_shared(keeper.time_lock(q, t.made_at, 1))
                    AND pg_try_advisory_lock(keeper.time_lock(q, t.made_at, 2))
                    AND pg_advisory_unlock(keeper.time_lock(q, t.made_at, 2)))
      INTO are_unused FROM unnest(times) t(made_at);
    -- In a statement of its own, so that it sees what those have done who had the lock.
    IF are_unused AND EXISTS (
         SELECT FROM keeper.duplicate d WHERE d.queue = q AND d.key BETWEEN low_key AND high_key) THEN
      are_unused := NOT EXISTS (
        SELECT FROM unnest(told_apart_by) k(key)
               CROSS JOIN LATERAL (SELECT FROM keeper.duplicate y WHERE y.queue = q AND y.key = k.key OFFSET 0) x);
    END IF;
    IF NOT are_unused THEN
      firsts := NULL;
      known_keys := '{}';
      known_seqs := '{}';
      RETURN;
    END IF;
    remembered := interval '0' - remembered;
  ELSIF remembered > interval '0' AND times IS NOT NULL THEN
    -- In other levels "sent" is seen as it was when the transaction began, and an id of it would be stored twice. Ids that
    -- have rows of their own, and those that are used for the first time, are told apart in every level.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE EXCEPTION 'The transaction is in %, where an id that was made with the time cannot be told from one that others sent meanwhile; use READ COMMITTED for it, or another id',
        upper(current_setting('transaction_isolation')) USING ERRCODE = 'SK003';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(keeper.time_lock(q, t.made_at, 2)) FROM unnest(times) t(made_at);
    PERFORM pg_advisory_lock(keeper.time_lock(q, t.made_at, 1))::text = '' AND pg_advisory_unlock(keeper.time_lock(q, t.made_at, 1))
       FROM unnest(times) t(made_at);
    SELECT array_agg(k.key), array_agg(s.first_seq + k.n - 1) INTO known_keys, known_seqs
      FROM keeper.sent s CROSS JOIN LATERAL unnest(s.keys) WITH ORDINALITY k(key, n)
     WHERE s.span && send.span AND s.queue = q AND s.expires_at > moment AND k.key IN (SELECT unnest(told_apart_by));
    IF known_keys IS NOT NULL THEN
      firsts := NULL;
      RETURN;
    END IF;
  END IF;
  IF sessions IS NULL OR remembered > interval '0' THEN
    seqs := ARRAY(SELECT b.first + g.i FROM unnest(firsts, sizes) WITH ORDINALITY b(first, size, n)
                         CROSS JOIN LATERAL generate_series(0, b.size - 1) g(i)
                   ORDER BY b.n, g.i);
  END IF;
  IF of_shard >= 0 THEN
    -- An id that is in an application's open transaction must not hold up those it was sent together with: the call fails, and
    -- the caller sends each alone.
    PERFORM set_config('lock_timeout', '100ms', true);
  END IF;
  WHILE remembered > interval '0' LOOP
    -- In the order of the keys, so that two senders of the same ids wait for each other and never in a circle. That an id
    -- is known is the exception, and looking first would cost as much again as storing.
    BEGIN
      INSERT INTO keeper.duplicate (queue, key, seq, expires_at)
      SELECT q, u.key, u.seq, moment + remembered FROM unnest(told_apart_by, seqs) u(key, seq) ORDER BY u.key;
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      DELETE FROM keeper.duplicate d
       WHERE d.ctid = ANY (ARRAY(
         SELECT x.place_of
           FROM (SELECT k.key FROM unnest(told_apart_by) k(key) ORDER BY k.key) k
                CROSS JOIN LATERAL (SELECT y.ctid AS place_of, y.expires_at FROM keeper.duplicate y
                                     WHERE y.queue = q AND y.key = k.key OFFSET 0 FOR UPDATE) x
          WHERE x.expires_at <= moment));
      SELECT array_agg(k.key), array_agg(x.seq) INTO known_keys, known_seqs
        FROM unnest(told_apart_by) k(key)
             CROSS JOIN LATERAL (SELECT y.seq FROM keeper.duplicate y WHERE y.queue = q AND y.key = k.key OFFSET 0) x;
      IF known_keys IS NOT NULL THEN
        firsts := NULL;
        RETURN;
      END IF;
      tries := tries + 1;
      IF tries = 3 THEN
        -- Stored by somebody whom this transaction cannot see.
        RAISE EXCEPTION 'a message with one of these ids is being stored' USING ERRCODE = '40001';
      END IF;
    END;
  END LOOP;

  IF remembered < interval '0' AND cardinality(sizes) = 1 THEN
    INSERT INTO keeper.sent (queue, first_seq, span, keys, expires_at)
    VALUES (q, firsts[1], send.span, told_apart_by, moment - remembered);
  ELSIF remembered < interval '0' THEN
    INSERT INTO keeper.sent (queue, first_seq, span, keys, expires_at)
    SELECT q, b.first, send.span, told_apart_by[b.upto - b.size + 1 : b.upto], moment - remembered
      FROM (SELECT u.first, u.size, (sum(u.size) OVER (ORDER BY u.n))::int AS upto
              FROM unnest(firsts, sizes) WITH ORDINALITY u(first, size, n)) b;
  END IF;
  IF sessions IS NULL THEN
    INSERT INTO keeper.loose_message (queue, seq, form, expires_at, visible_at, not_before, ttl_us, message_id,
                                      content_type, body, properties)
    SELECT q, u.seq, COALESCE(u.form, forms[1]), moment + keeper.micros(COALESCE(u.ttl_us, ttl)), COALESCE(u.not_before, moment),
           u.not_before, u.ttl_us, u.id, COALESCE(u.type, types[1]), u.body, u.props
      FROM unnest(seqs, ids, forms, types, bodies, props, ttls, not_befores)
           u(seq, id, form, type, body, props, ttl_us, not_before);
  ELSIF cardinality(sizes) = 1 THEN
    INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, shared, sessions, ids,
                               forms, types, bodies, props, ttls, not_befores)
    VALUES (q, firsts[1], firsts[1] + sizes[1] - 1, -1::bigint # ((-2::bigint) << (sizes[1] - 1)), weights[1], moment,
            moment + keeper.micros(ttl), CASE WHEN forms[1] >= 4 THEN encode(bodies[1], 'hex')::uuid END, sessions, ids,
            forms, types, bodies, props, ttls, not_befores);
  ELSE
    INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, shared, sessions, ids,
                               forms, types, bodies, props, ttls, not_befores)
    SELECT q, b.first, b.first + b.size - 1, -1::bigint # ((-2::bigint) << (b.size - 1)), b.weight, moment,
           moment + keeper.micros(ttl),
           CASE WHEN COALESCE(forms[b.upto], forms[1]) >= 4 THEN encode(bodies[b.upto], 'hex')::uuid END,
           sessions[b.upto - b.size + 1 : b.upto], ids[b.upto - b.size + 1 : b.upto],
           CASE cardinality(forms) WHEN 1 THEN forms ELSE forms[b.upto - b.size + 1 : b.upto] END,
           CASE cardinality(types) WHEN 1 THEN types ELSE types[b.upto - b.size + 1 : b.upto] END,
           bodies[b.upto - b.size + 1 : b.upto], props[b.upto - b.size + 1 : b.upto], ttls[b.upto - b.size + 1 : b.upto],
           not_befores[b.upto - b.size + 1 : b.upto]
      FROM (SELECT u.first, u.size, u.weight, (sum(u.size) OVER (ORDER BY u.n))::int AS upto
              FROM unnest(firsts, sizes, weights) WITH ORDINALITY u(first, size, weight, n)) b;
  END IF;
  -- The common case of add_to_tally, without the cost of a call.
  UPDATE keeper.tally t SET arrived = t.arrived + cardinality(ids) WHERE t.queue = q AND t.shard = of_shard;
  IF NOT FOUND THEN
    PERFORM keeper.add_to_tally(q, of_shard, cardinality(ids), 0, 0);
  END IF;
END $$;

-- queues/R__6_loose.sql
-- Messages of unordered queues: each is a lane of its own.

-- Makes a message of an unordered queue a dead letter.
CREATE OR REPLACE FUNCTION keeper.bury_loose(q int, of_seq bigint, tried int, why text, error text, of_shard bigint)
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  WITH dead AS (DELETE FROM keeper.loose_message m WHERE m.queue = q AND m.seq = of_seq RETURNING m.*)
  INSERT INTO keeper.dead_letter (queue, seq, message_id, form, content_type, body, properties, ttl_us, not_before,
                                  attempts, replays, reason, last_error, enqueued_at)
  SELECT d.queue, d.seq, d.message_id, d.form & 3, d.content_type,
         CASE WHEN d.form < 4 THEN d.body ELSE keeper.shared_body(d.body) END, d.properties, d.ttl_us, d.not_before,
         d.attempts + tried, d.replays, why, COALESCE(NULLIF(error, ''), d.last_error, ''), d.enqueued_at
    FROM dead d;
  IF FOUND THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, 1, 1);
  END IF;
END $$;

-- A failed attempt: back to its place by age, or later, or the poison policy.
CREATE OR REPLACE FUNCTION keeper.fail_loose(q int, of_seq bigint, delay_us bigint, limited boolean, error text,
                                             of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  tried int;
  most int;
  policy text;
BEGIN
  UPDATE keeper.loose_message m
     SET attempts = m.attempts + 1, last_error = error, receipt = 0,
         visible_at = CASE WHEN delay_us = 0 THEN m.enqueued_at ELSE clock_timestamp() + keeper.micros(delay_us) END
   WHERE m.queue = q AND m.seq = of_seq
  RETURNING m.attempts INTO tried;
  SELECT k.max_delivery_count, k.poison_policy INTO most, policy FROM keeper.queue k WHERE k.id = q;
  IF limited AND tried >= most AND policy IN ('DEAD_LETTER', 'PARK_SESSION') THEN
    PERFORM keeper.bury_loose(q, of_seq, 0, 'max delivery count reached', error, of_shard);
  END IF;
END $$;

-- Locks that ran out, and messages that have become too old. Tells when to look next.
CREATE OR REPLACE FUNCTION keeper.wake_loose(q int, of_shard bigint, OUT woken int, OUT next_us bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  late record;
BEGIN
  woken := 0;
  FOR late IN
    SELECT m.seq FROM keeper.loose_message m
     WHERE m.queue::bigint = q AND m.receipt <> 0 AND m.visible_at <= moment
     ORDER BY m.visible_at LIMIT 500 FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM keeper.fail_loose(q, late.seq, 0, true, 'the lock ran out before the message was settled', of_shard);
    woken := woken + 1;
  END LOOP;
  FOR late IN
    SELECT m.seq FROM keeper.loose_message m
     WHERE m.queue::bigint = q AND m.expires_at - m.enqueued_at < interval '1 hour' AND m.expires_at <= moment AND m.receipt = 0
     ORDER BY m.expires_at LIMIT 500 FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM keeper.bury_loose(q, late.seq, 0, 'expired', NULL, of_shard);
  END LOOP;
  SELECT (extract(epoch FROM least(
            (SELECT m.visible_at FROM keeper.loose_message m
              WHERE m.queue::bigint = q AND m.receipt <> 0 AND m.visible_at > moment ORDER BY m.visible_at LIMIT 1),
            (SELECT m.visible_at FROM keeper.loose_message m
              WHERE m.queue::bigint = q AND m.receipt = 0 AND m.visible_at > moment ORDER BY m.visible_at LIMIT 1),
            (SELECT m.expires_at FROM keeper.loose_message m
              WHERE m.queue::bigint = q AND m.expires_at - m.enqueued_at < interval '1 hour' AND m.expires_at > moment
              ORDER BY m.expires_at LIMIT 1)) - moment) * 1000000)::bigint
    INTO next_us;
END $$;

-- Locks the oldest messages that nobody has, until bodies and properties have more than most_bytes together. The loop locks a row
-- only when it comes to it, so what does not fit stays free for other receivers.
DROP FUNCTION IF EXISTS keeper.receive_loose(int, int, bigint);
CREATE OR REPLACE FUNCTION keeper.receive_loose(q int, most int, most_bytes bigint, of_shard bigint)
RETURNS SETOF keeper.handed
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  lease interval;
  picked record;
  places tid[] := '{}';
  bytes bigint := 0;
BEGIN
  SELECT keeper.micros(k.lock_us) INTO lease FROM keeper.queue k WHERE k.id = q;
  FOR picked IN
    SELECT m.ctid AS place_of,
           octet_length(CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END)
             + COALESCE(octet_length(m.properties), 0) AS size
      FROM keeper.loose_message m
     WHERE m.queue::bigint = q AND m.receipt = 0 AND m.visible_at <= moment
     ORDER BY m.visible_at, m.seq LIMIT most FOR UPDATE SKIP LOCKED
  LOOP
    bytes := bytes + picked.size;
    EXIT WHEN bytes > most_bytes AND cardinality(places) > 0;
    places := places || picked.place_of;
  END LOOP;
  FOR picked IN
    WITH locked AS (
           UPDATE keeper.loose_message m SET receipt = nextval('keeper.epoch_seq'), visible_at = moment + lease
            WHERE m.ctid = ANY (places)
           RETURNING m.*)
    SELECT (1::smallint, NULL::text, l.receipt, l.visible_at, NULL::text, l.seq, l.attempts, l.form & 3::smallint, false,
            l.enqueued_at, NULL::timestamptz, l.not_before, l.ttl_us, l.message_id, l.content_type,
            CASE WHEN l.form < 4 THEN l.body ELSE keeper.shared_body(l.body) END, l.properties,
            l.replays)::keeper.handed AS row_out, l.expires_at <= moment AS is_old
      FROM locked l ORDER BY l.seq
  LOOP
    IF picked.is_old THEN
      PERFORM keeper.bury_loose(q, (picked.row_out).seq, 0, 'expired', NULL, of_shard);
    ELSE
      RETURN NEXT picked.row_out;
    END IF;
  END LOOP;
END $$;

-- Completes messages; returns those whose lock is not held any more.
CREATE OR REPLACE FUNCTION keeper.complete_loose(q int, seqs bigint[], receipts bigint[], of_shard bigint)
RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  done bigint[];
BEGIN
  WITH gone AS (
    DELETE FROM keeper.loose_message m
     WHERE m.ctid = ANY (ARRAY(
       SELECT found.place_of
         FROM unnest(seqs, receipts) d(seq, receipt)
              CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.receipt, x.visible_at FROM keeper.loose_message x
                                   WHERE x.queue = q AND x.seq = d.seq OFFSET 0 FOR UPDATE) found
        WHERE found.receipt = d.receipt AND found.visible_at > moment))
    RETURNING m.seq)
  SELECT array_agg(g.seq) INTO done FROM gone g;
  IF cardinality(done) > 0 THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, cardinality(done), 0);
  END IF;
  IF COALESCE(cardinality(done), 0) < cardinality(seqs) THEN
    RETURN QUERY SELECT d.seq FROM unnest(seqs) d(seq) WHERE (d.seq IN (SELECT unnest(done))) IS NOT TRUE;
  END IF;
END $$;

-- Everything else a settlement can be, for one message. False when the lock is not held any more.
CREATE OR REPLACE FUNCTION keeper.settle_loose(q int, of_seq bigint, of_receipt bigint, act int, delay_us bigint,
  limited boolean, why text, error text, of_shard bigint) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  PERFORM 1 FROM keeper.loose_message m
    WHERE m.queue = q AND m.seq = of_seq AND m.receipt = of_receipt AND m.visible_at > clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF act = 1 THEN
    PERFORM keeper.fail_loose(q, of_seq, delay_us, limited, why, of_shard);
  ELSIF act = 5 THEN
    UPDATE keeper.loose_message m
       SET last_error = why, receipt = 0,
           visible_at = CASE WHEN delay_us = 0 THEN m.enqueued_at ELSE clock_timestamp() + keeper.micros(delay_us) END
     WHERE m.queue = q AND m.seq = of_seq;
  ELSE
    PERFORM keeper.bury_loose(q, of_seq, 1, why, error, of_shard);
  END IF;
  RETURN true;
END $$;

-- queues/R__7_keep_house.sql
-- What nobody waits for. True when there is more to do at once.
CREATE OR REPLACE FUNCTION keeper.keep_house(of_shard bigint) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  forgotten int;
  forgotten_together int;
  buried int := 0;
  old record;
  of_queue record;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- One process at a time; the others have nothing to do.
  IF NOT pg_try_advisory_xact_lock(5735, 1) THEN
    RETURN false;
  END IF;

  DELETE FROM keeper.duplicate d
   WHERE d.ctid = ANY (ARRAY(SELECT x.ctid FROM keeper.duplicate x WHERE x.expires_at <= moment
                              LIMIT 5000 FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  DELETE FROM keeper.sent s
   WHERE s.ctid = ANY (ARRAY(SELECT x.ctid FROM keeper.sent x WHERE x.expires_at <= moment
                              LIMIT 5000 FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS forgotten_together = ROW_COUNT;

  FOR of_queue IN SELECT k.id, k.is_ordered FROM keeper.queue k LOOP
    -- By age: the oldest come first in this index, so a look at its begin is enough.
    IF of_queue.is_ordered THEN
      FOR old IN
        SELECT m.session, m.seq FROM (SELECT x.session, x.seq, x.expires_at FROM keeper.message x
                                       WHERE x.queue::bigint = of_queue.id ORDER BY x.xid LIMIT 1000) m
         WHERE m.expires_at <= moment
      LOOP
        PERFORM 1 FROM keeper.lane l
          WHERE l.queue = of_queue.id AND l.session = old.session AND l.status + 0 IN (0, 2) AND l.frozen_since IS NULL FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
          PERFORM keeper.bury(of_queue.id, old.session, old.seq, 0, 'expired', NULL, of_shard);
          PERFORM keeper.place_lane(of_queue.id, old.session, of_shard);
          buried := buried + 1;
        END IF;
      END LOOP;
    ELSE
      FOR old IN
        SELECT m.seq FROM (SELECT x.seq, x.expires_at, x.receipt FROM keeper.loose_message x
                            WHERE x.queue = of_queue.id ORDER BY x.seq LIMIT 1000) m
         WHERE m.expires_at <= moment AND m.receipt = 0
      LOOP
        PERFORM keeper.bury_loose(of_queue.id, old.seq, 0, 'expired', NULL, of_shard);
        buried := buried + 1;
      END LOOP;
    END IF;
    -- Rows that transactions of applications left, and those of processes that are gone, into one.
    WITH folded AS (
      DELETE FROM keeper.tally t WHERE t.queue = of_queue.id AND t.shard < 0 RETURNING t.*)
    INSERT INTO keeper.tally AS t (queue, shard, arrived, gone, dead)
    SELECT of_queue.id, 0, sum(f.arrived), sum(f.gone), sum(f.dead) FROM folded f HAVING count(*) > 0
    ON CONFLICT (queue, shard) DO UPDATE
       SET arrived = t.arrived + excluded.arrived, gone = t.gone + excluded.gone, dead = t.dead + excluded.dead;
  END LOOP;

  -- An empty state of a session that has nothing else.
  DELETE FROM keeper.session_state s
   WHERE s.bytes = ''::bytea AND s.updated_at < moment - interval '1 hour'
     AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = s.queue AND l.session = s.session);
  RETURN forgotten = 5000 OR forgotten_together = 5000 OR buried >= 500;
END $$;

-- queues/R__8_carry.sql
-- A queue that is read by one process alone: what is new is read with its bodies and handed out from memory; only
-- sessions with something unusual about them are written down as lanes.
--
-- The fence of a reader: every statement that writes for it finds its row in "reader", with its epoch and a lease that has
-- not run out, and its row in "reading". A crash of the database, or a standby that takes over, empties "reading". Some
-- transactions are lost then, and others get their numbers and those of their messages. What the reader has in memory may
-- be about the lost ones, so it writes nothing of it.

-- Becomes the reader, unless there is one, somebody else wanted sessions lately, or less than that is new. Discovery is
-- locked first, by everybody who changes who reads.
DROP FUNCTION IF EXISTS keeper.become_reader(int, text, int, bigint, bigint);
DROP FUNCTION IF EXISTS keeper.become_reader(int, text, int, int, bigint);
CREATE OR REPLACE FUNCTION keeper.become_reader(q int, at_node text, least_new int, alone_us bigint,
  OUT my_epoch bigint, OUT known_to text, OUT lease_us bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  old pg_snapshot;
  asked timestamptz;
  moment timestamptz := clock_timestamp();
  fresh bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT d.known, d.asked_at INTO old, asked FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF asked > moment - keeper.micros(alone_us) OR EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q) THEN
    RETURN;
  END IF;
  IF least_new > 0 THEN
    SELECT (SELECT COALESCE(sum(b.last_seq - b.first_seq + 1), 0)
              FROM (SELECT x.first_seq, x.last_seq FROM keeper.bundle x
                     WHERE x.queue = q AND x.first_seq > 0 ORDER BY x.first_seq LIMIT least_new) b)
         + (SELECT count(*) FROM (SELECT FROM keeper.message m
                                   WHERE m.queue::bigint = q AND m.xid >= pg_snapshot_xmax(old) LIMIT least_new) f)
      INTO fresh;
    IF fresh < least_new THEN
      RETURN;
    END IF;
  END IF;
  SELECT k.lock_us INTO lease_us FROM keeper.queue k WHERE k.id = q;
  IF lease_us < 1000000 THEN
    RETURN; -- So short a lease would be lost for a breath.
  END IF;
  INSERT INTO keeper.reader (queue, epoch, node, until, beat_at, begun_at)
  -- The sequence may have gone back with a standby that lost its last numbers; a random part tells two readers apart then.
  VALUES (q, nextval('keeper.epoch_seq') + floor(random() * 4096)::bigint, at_node, moment + keeper.micros(lease_us), moment,
          moment)
  RETURNING epoch INTO my_epoch;
  INSERT INTO keeper.reading VALUES (q, my_epoch) ON CONFLICT (queue) DO UPDATE SET epoch = excluded.epoch;
  known_to := old;
END $$;

-- What a reader is told. kind 4: a message, and when it is too old (until). 6: a bundle: its first number (seq), what of it
-- is done (epoch), when it is too old (until), what time it is (due_at). 5: up to which snapshot (node), and number (seq) if that is not all. 2: a
-- held lane has news. 3: somebody else reads now. 7: what else was found, to be read by read_found (bundles in ttls, sessions with
-- lanes in sessions, those that lost them in ids, the last number in seq, whether there are rows in is_expired, whether to find them by
-- transaction in attempts). 0: the summary: moment (until), a number for epochs, the place of the first ready
-- lane (seq), whether another process wants sessions, the last number given out (ttl_us), whether something was locked (form).
DO $$ BEGIN
  IF to_regtype('keeper.news') IS NULL THEN
    CREATE TYPE keeper.news AS (
      kind smallint, session text, epoch bigint, until timestamptz, node text, seq bigint, attempts int, form smallint,
      is_expired boolean, enqueued_at timestamptz, due_at timestamptz, not_before timestamptz, ttl_us bigint,
      message_id text, content_type text, body bytea, properties text,
      sessions text[], ids text[], forms smallint[], types text[], bodies bytea[], props text[], ttls bigint[],
      not_befores timestamptz[]);
  END IF;
END $$;

-- The next page of what lies between two snapshots: so many messages, or so large ones, but one at least. Tells its bundles, and its
-- last number if that is not the end.
CREATE OR REPLACE FUNCTION keeper.next_page(q int, old pg_snapshot, seen pg_snapshot, after_seq bigint, most int,
  most_bytes bigint, is_first boolean, OUT upto bigint, OUT bundles bigint[])
LANGUAGE plpgsql
-- Without sorting: message_line and bundle_pkey are merged, and no more of them is read than the page has.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
DECLARE
  next record;
  its_messages bigint := 0;
  its_bytes bigint := 0;
  its_end bigint;
BEGIN
  bundles := '{}';
  FOR next IN
    SELECT x.seq, x.last, x.bytes, x.messages, x.is_bundle
      FROM ((SELECT m.seq, m.seq AS last, octet_length(m.body)::bigint AS bytes, 1::bigint AS messages, false AS is_bundle
               FROM keeper.message m
              WHERE m.queue + 0 = q AND m.seq > after_seq
                AND NOT pg_visible_in_snapshot(m.xid, old) AND pg_visible_in_snapshot(m.xid, seen)
              ORDER BY m.seq)
            UNION ALL
            (SELECT b.first_seq, b.last_seq, b.bytes, b.last_seq - b.first_seq + 1, true
               FROM keeper.bundle b
              WHERE b.queue = q AND b.first_seq > after_seq
                AND (is_first OR NOT pg_visible_in_snapshot(b.xid, old)) AND pg_visible_in_snapshot(b.xid, seen)
              ORDER BY b.first_seq)) x
     ORDER BY x.seq
  LOOP
    its_messages := its_messages + next.messages;
    its_bytes := its_bytes + next.bytes;
    IF its_end IS NOT NULL AND (its_messages > most OR its_bytes > most_bytes) THEN
      upto := its_end;
      RETURN;
    END IF;
    its_end := next.last;
    IF next.is_bundle THEN
      bundles := bundles || next.seq;
    END IF;
  END LOOP;
END $$;

-- Lets lanes go that nobody holds and that have nothing unusual about them, or a queue with lasting work would keep those it
-- once had. Tells their sessions; what they have is told like everything new. Locked first and looked at in a later statement, as in place_lane.
-- Messages that the snapshot sees with which this reading began stay where they are: without their lane nobody would find them
-- after a crash.
DROP FUNCTION IF EXISTS keeper.relieve_lanes(int, bigint, pg_snapshot, timestamptz, int, bigint);
CREATE OR REPLACE FUNCTION keeper.relieve_some_lanes(q int, my_epoch bigint, old pg_snapshot, moment timestamptz, most int,
  most_bytes bigint)
RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  ready text[];
  relieved text[] := '{}';
  one text;
  at_first pg_snapshot;
  its_messages int;
  its_bytes bigint;
  is_usual boolean;
BEGIN
  IF NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue::bigint = q AND l.status = 0) THEN
    RETURN relieved;
  END IF;
  PERFORM 1 FROM keeper.reader r
    WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp() FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN relieved;
  END IF;
  ready := ARRAY(SELECT l.session FROM keeper.lane l
                  WHERE l.queue::bigint = q AND l.status = 0 AND l.aside IS NULL
                  ORDER BY l.place LIMIT 128 FOR UPDATE SKIP LOCKED);
  SELECT d.known INTO at_first FROM keeper.discovery d WHERE d.queue = q;
  ready := ARRAY(
    SELECT f.session
      FROM unnest(ready) WITH ORDINALITY f(session, n)
           CROSS JOIN LATERAL (SELECT x.xid, x.due_at FROM keeper.message x WHERE x.queue = q AND x.session = f.session
                                ORDER BY x.seq LIMIT 1) head
     WHERE head.due_at IS NULL AND NOT pg_visible_in_snapshot(head.xid, at_first)
       -- A dead one might be replayed, and come before these (D-02).
       AND NOT EXISTS (SELECT FROM keeper.dead_letter d WHERE d.queue = q AND d.session = f.session)
     ORDER BY f.n);
  FOREACH one IN ARRAY ready LOOP
    SELECT count(*), sum(octet_length(m.body)),
           bool_and(m.due_at IS NULL AND m.expires_at > moment AND pg_visible_in_snapshot(m.xid, old)
                    AND NOT pg_visible_in_snapshot(m.xid, at_first))
      INTO its_messages, its_bytes, is_usual
      FROM (SELECT * FROM keeper.message x WHERE x.queue = q AND x.session = one ORDER BY x.seq LIMIT most + 1) m;
    most := most - its_messages;
    most_bytes := most_bytes - its_bytes;
    EXIT WHEN most < 0 OR most_bytes < 0;
    IF is_usual THEN
      relieved := relieved || one;
    END IF;
  END LOOP;
  IF cardinality(relieved) = 0 THEN
    RETURN relieved;
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  DELETE FROM keeper.lane l
   WHERE l.ctid = ANY (ARRAY(
     SELECT x.place_of FROM unnest(relieved) f(session)
            CROSS JOIN LATERAL (SELECT y.ctid AS place_of FROM keeper.lane y
                                 WHERE y.queue = q AND y.session = f.session OFFSET 0) x));
  RETURN relieved;
END $$;

-- Tells the owners of these lanes, where they are held, that there are new messages.
CREATE OR REPLACE FUNCTION keeper.news_of_lanes(q int, sessions text[]) RETURNS SETOF keeper.news
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
  SELECT 2::smallint, l.session, l.epoch, NULL::timestamptz, l.node, NULL::bigint, NULL::int, NULL::smallint,
         NULL::boolean, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::bigint,
         NULL::text, NULL::text, NULL::bytea, NULL::text, NULL::text[], NULL::text[], NULL::smallint[],
         NULL::text[], NULL::bytea[], NULL::text[], NULL::bigint[], NULL::timestamptz[]
    FROM unnest(sessions) f(session)
         CROSS JOIN LATERAL (SELECT * FROM keeper.lane x WHERE x.queue = q AND x.session = f.session OFFSET 0) l
   WHERE l.status = 1
$$;

-- How many bytes an answer with these bundles, and with the rows of these sessions, has about.
CREATE OR REPLACE FUNCTION keeper.weight_of_found(q int, bundles bigint[], relieved text[]) RETURNS bigint
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
  SELECT COALESCE((SELECT sum(b.bytes + 100 * (b.last_seq - b.first_seq + 1) + COALESCE(pg_column_size(b.props), 0))
                     FROM unnest(bundles) f(first)
                          CROSS JOIN LATERAL (SELECT x.bytes, x.first_seq, x.last_seq, x.props FROM keeper.bundle x
                                               WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b), 0)
       + COALESCE((SELECT sum(keeper.body_size(m.form, m.body) + COALESCE(octet_length(m.properties), 0) + 300)
                     FROM unnest(relieved) f(session)
                          CROSS JOIN LATERAL (SELECT x.form, x.body, x.properties FROM keeper.message x
                                               WHERE x.queue = q AND x.session = f.session OFFSET 0) m), 0)
$$;

-- The messages that read_new has found, with their bodies. It locks and writes nothing, so a client may take its time. by_xid:
-- rows are found by their transactions, else in line. except_of: sessions that have lanes. relieved: those that have just lost them.
CREATE OR REPLACE FUNCTION keeper.read_found(q int, old pg_snapshot, seen pg_snapshot, after_seq bigint, upto bigint,
  bundles bigint[], are_rows boolean, by_xid boolean, except_of text[], relieved text[], moment timestamptz)
RETURNS SETOF keeper.news
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  IF cardinality(relieved) > 0 THEN
    RETURN QUERY
      SELECT 4::smallint, m.session, NULL::bigint, m.expires_at, NULL::text, m.seq, m.attempts, m.form & 3::smallint,
             false, m.enqueued_at, m.due_at, m.not_before, m.ttl_us, m.message_id, m.content_type,
             CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END, m.properties, NULL::text[],
             NULL::text[], NULL::smallint[], NULL::text[], NULL::bytea[], NULL::text[], NULL::bigint[], NULL::timestamptz[]
        FROM unnest(relieved) WITH ORDINALITY f(session, n)
             CROSS JOIN LATERAL (SELECT * FROM keeper.message x WHERE x.queue = q AND x.session = f.session OFFSET 0) m
       WHERE pg_visible_in_snapshot(m.xid, old)
       ORDER BY f.n, m.seq;
  END IF;
  IF cardinality(bundles) > 0 THEN
    RETURN QUERY
    SELECT 6::smallint, NULL::text, b.done, b.expires_at, NULL::text, b.first_seq, NULL::int, NULL::smallint,
           NULL::boolean, b.enqueued_at, moment, NULL::timestamptz, NULL::bigint,
           NULL::text, NULL::text, NULL::bytea, NULL::text, b.sessions, b.ids,
           CASE WHEN b.shared IS NULL THEN b.forms ELSE ARRAY[b.forms[1] & 3::smallint] END, b.types,
           CASE WHEN b.shared IS NULL THEN b.bodies ELSE ARRAY[keeper.shared_body(b.bodies[1])] END,
           b.props, b.ttls, b.not_befores
      FROM unnest(bundles) f(first)
           CROSS JOIN LATERAL (SELECT * FROM keeper.bundle x WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b;
  END IF;
  IF by_xid AND are_rows THEN
    RETURN QUERY
      SELECT 4::smallint, m.session, NULL::bigint, m.expires_at, NULL::text, m.seq, m.attempts, m.form & 3::smallint,
             m.expires_at <= moment, m.enqueued_at, m.due_at, m.not_before, m.ttl_us, m.message_id, m.content_type,
             CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END, m.properties, NULL::text[],
             NULL::text[], NULL::smallint[], NULL::text[], NULL::bytea[], NULL::text[], NULL::bigint[], NULL::timestamptz[]
        FROM (SELECT * FROM keeper.message a WHERE a.queue::bigint = q AND a.xid >= pg_snapshot_xmax(old)
              UNION ALL
              SELECT * FROM keeper.message b
               WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))) m
       WHERE pg_visible_in_snapshot(m.xid, seen)
         AND (except_of IS NULL OR (m.session IN (SELECT unnest(except_of))) IS NOT TRUE)
       ORDER BY m.seq;
  ELSIF are_rows THEN
    -- message_line
    RETURN QUERY
      SELECT 4::smallint, m.session, NULL::bigint, m.expires_at, NULL::text, m.seq, m.attempts, m.form & 3::smallint,
             m.expires_at <= moment, m.enqueued_at, m.due_at, m.not_before, m.ttl_us, m.message_id, m.content_type,
             CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END, m.properties, NULL::text[],
             NULL::text[], NULL::smallint[], NULL::text[], NULL::bytea[], NULL::text[], NULL::bigint[], NULL::timestamptz[]
        FROM keeper.message m
       WHERE m.queue + 0 = q AND m.seq > after_seq AND m.seq <= COALESCE(upto, 9223372036854775807)
         AND NOT pg_visible_in_snapshot(m.xid, old) AND pg_visible_in_snapshot(m.xid, seen)
         AND (except_of IS NULL OR (m.session IN (SELECT unnest(except_of))) IS NOT TRUE)
       ORDER BY m.seq;
  END IF;
END $$;

-- What became visible since that snapshot, in the order of the numbers, up to the most. Where that is not all, the rest is
-- read by further calls, with the snapshot up to which is read (goal) and the last number of the page before.
-- is_first: nothing was read yet; then bundles that are older than the snapshot count as well, because a bundle that is there
-- has not been untied. relieves: lanes that are not needed any more are carried again.
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, boolean, bigint, bigint);
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, bigint, text, bigint, int, bigint, boolean);
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, bigint, text, bigint, int, bigint, boolean, boolean);
CREATE OR REPLACE FUNCTION keeper.read_new(q int, my_epoch bigint, known_to text, known_seq bigint, goal text,
                                           after_seq bigint, most int, most_bytes bigint, beats boolean, is_first boolean,
                                           relieves boolean)
RETURNS SETOF keeper.news
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  old pg_snapshot := known_to::pg_snapshot;
  moment timestamptz := clock_timestamp();
  seen pg_snapshot := COALESCE(goal::pg_snapshot, pg_current_snapshot());
  last_seq bigint;
  -- So few that all can be read by their transactions; else they are read in line.
  are_few boolean;
  upto bigint;
  bundles bigint[];
  -- Rows that are not bundled: those that were replayed, and those of lanes.
  are_rows boolean;
  are_lanes boolean;
  fresh text[];
  -- Sessions that have lanes, also those whose lanes are busy.
  existing text[];
  shared text[];
  busy text[];
  relieved text[] := '{}';
  -- Whether this call has locked or written anything: then no more is sent than goes on its way at once.
  is_locked boolean := false;
  is_late boolean := false;
  begun timestamptz;
  said keeper.news;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT s.last_value, r.begun_at INTO last_seq, begun
    FROM keeper.reader r CROSS JOIN keeper.message_seq s
   WHERE r.queue = q AND r.epoch = my_epoch AND r.until > moment
     AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch);
  IF FOUND AND beats THEN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE keeper.reader r
       SET beat_at = moment, until = moment + (SELECT keeper.micros(k.lock_us) FROM keeper.queue k WHERE k.id = q)
     WHERE r.queue = q AND r.epoch = my_epoch AND r.until > moment;
  END IF;
  IF NOT FOUND THEN
    said.kind := 3;
    RETURN NEXT said;
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q) THEN
    PERFORM 1 FROM keeper.reader r
      WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp()
        AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch) FOR KEY SHARE;
    IF NOT FOUND THEN
      said.kind := 3;
      RETURN NEXT said;
      RETURN;
    END IF;
    is_locked := true;
    is_late := true;
    RETURN QUERY SELECT n.* FROM keeper.news_of_lanes(q, keeper.place_late_sessions(q, -1)) n;
  END IF;
  are_few := goal IS NULL AND NOT is_first;
  IF are_few AND (last_seq - known_seq) / 64 > LEAST(most, 64) THEN
    -- The numbers may be those of other queues: then this one is not looked through from its first number on. bundle_new
    are_few := (SELECT count(*)
                  FROM ((SELECT FROM keeper.bundle x WHERE x.queue::bigint = q AND x.xid >= pg_snapshot_xmax(old)
                          LIMIT LEAST(most, 64) + 1)
                        UNION ALL
                        (SELECT FROM keeper.bundle y
                          WHERE y.queue::bigint = q AND y.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))
                          LIMIT LEAST(most, 64) + 1)) b) <= LEAST(most, 64);
  END IF;
  IF are_few THEN
    -- bundle_new. Between two snapshots exactly those transactions become visible that are not below the old xmax or were
    -- running then.
    SELECT ARRAY(
             SELECT b.first_seq
               FROM (SELECT x.first_seq, x.xid FROM keeper.bundle x WHERE x.queue::bigint = q AND x.xid >= pg_snapshot_xmax(old)
                     UNION ALL
                     SELECT y.first_seq, y.xid FROM keeper.bundle y
                      WHERE y.queue::bigint = q AND y.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))) b
              WHERE pg_visible_in_snapshot(b.xid, seen)
              ORDER BY b.first_seq),
           EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid >= pg_snapshot_xmax(old))
           OR EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))),
           EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q)
      INTO bundles, are_rows, are_lanes;
    -- A transaction that drew its numbers long ago may bring any number of messages, and of any size.
    are_few := cardinality(bundles) <= 64
           AND (SELECT COALESCE(sum(b.bytes), 0)
                  FROM unnest(bundles) f(first)
                       CROSS JOIN LATERAL (SELECT x.bytes FROM keeper.bundle x
                                            WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b) <= most_bytes;
  END IF;
  IF NOT are_few THEN
    SELECT p.upto, p.bundles INTO upto, bundles FROM keeper.next_page(q, old, seen, after_seq, most, most_bytes, is_first) p;
    are_rows := true;
    are_lanes := EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q);
  END IF;

  IF relieves AND are_lanes AND goal IS NULL AND NOT is_first THEN
    relieved := keeper.relieve_some_lanes(q, my_epoch, old, moment, most, most_bytes);
    is_locked := cardinality(relieved) > 0;
  END IF;

  -- Nobody but this reader makes lanes. Where there are some, messages of their sessions are theirs; that is settled
  -- first, as in claim_lanes, and only then is read, so that what a lane took along when it went is not seen any more.
  IF are_lanes AND (are_rows OR cardinality(bundles) > 0) THEN
    IF NOT are_rows THEN
      fresh := '{}';
    ELSIF are_few THEN
      fresh := ARRAY(SELECT a.session FROM keeper.message a
                      WHERE a.queue::bigint = q AND a.xid >= pg_snapshot_xmax(old) AND pg_visible_in_snapshot(a.xid, seen)
                     UNION ALL
                     SELECT b.session FROM keeper.message b
                      WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))
                        AND pg_visible_in_snapshot(b.xid, seen));
    ELSE
      fresh := ARRAY(SELECT m.session FROM keeper.message m
                      WHERE m.queue + 0 = q AND m.seq > after_seq AND m.seq <= COALESCE(upto, 9223372036854775807)
                        AND NOT pg_visible_in_snapshot(m.xid, old) AND pg_visible_in_snapshot(m.xid, seen));
    END IF;
    -- Without waiting, as in claim_lanes.
    SELECT l.shared, l.busy INTO shared, busy
      FROM keeper.share_lanes(q, ARRAY(
             SELECT DISTINCT s.session COLLATE "C" AS session
               FROM (SELECT unnest(fresh) AS session
                     UNION ALL
                     SELECT unnest(b.sessions)
                       FROM unnest(bundles) f(first)
                            CROSS JOIN LATERAL (SELECT x.sessions FROM keeper.bundle x
                                                 WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b) s
              ORDER BY 1)) l;
    existing := NULLIF(shared || busy, '{}');
    IF existing IS NOT NULL THEN
      PERFORM 1 FROM keeper.reader r
        WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp() FOR KEY SHARE;
      IF NOT FOUND THEN
        said.kind := 3;
        RETURN NEXT said;
        RETURN;
      END IF;
      is_locked := true;
      PERFORM keeper.come_back_to(q, busy);
      PERFORM keeper.untie(q, ARRAY(
        SELECT f.first FROM unnest(bundles) f(first)
               CROSS JOIN LATERAL (SELECT x.sessions FROM keeper.bundle x
                                    WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b
         WHERE EXISTS (SELECT FROM unnest(b.sessions) s(session) WHERE s.session IN (SELECT unnest(existing)))), existing);
      RETURN QUERY SELECT n.* FROM keeper.news_of_lanes(q, existing) n;
      PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
  END IF;

  said.kind := 5;
  said.node := seen::text;
  said.seq := upto;
  RETURN NEXT said;
  IF is_locked AND keeper.weight_of_found(q, bundles, relieved) + COALESCE(cardinality(fresh), 0) * 4096
                   > keeper.most_with_locks() THEN
    -- Told what to read, by read_found, once the locks are gone.
    said := NULL;
    said.kind := 7;
    said.ttls := bundles;
    said.ids := relieved;
    said.sessions := existing;
    said.is_expired := are_rows;
    said.attempts := are_few::int;
    said.seq := upto;
    said.until := moment;
    RETURN NEXT said;
  ELSE
    RETURN QUERY
      SELECT * FROM keeper.read_found(q, old, seen, after_seq, upto, bundles, are_rows, are_few, existing, relieved, moment);
  END IF;
  said := NULL;
  said.kind := 0;
  SELECT nextval('keeper.epoch_seq'), d.asked_at > begun,
         (SELECT l.place FROM keeper.lane l WHERE l.queue::bigint = q AND l.status = 0 ORDER BY l.place LIMIT 1)
    INTO said.epoch, said.is_expired, said.seq
    FROM keeper.discovery d WHERE d.queue = q;
  said.until := moment;
  said.ttl_us := last_seq;
  said.form := (is_late OR cardinality(busy) > 0)::int;
  RETURN NEXT said;
END $$;

-- Extends the lease of a reader: a statement of its own, so that its lock is gone before any body is sent. False when it has ended.
CREATE OR REPLACE FUNCTION keeper.beat_reader(q int, my_epoch bigint) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE keeper.reader r
     SET beat_at = clock_timestamp(),
         until = clock_timestamp() + (SELECT keeper.micros(k.lock_us) FROM keeper.queue k WHERE k.id = q)
   WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp()
     AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch);
  RETURN FOUND;
END $$;

-- Completes messages of sessions that are carried: bundled ones by their bits (keeper.complete_bundled), others by their numbers.
-- folds: bundles with old notes, and all their bits. over_notes: notes of which nothing is left. Returns the sessions
-- that have been written down meanwhile; if there are any, nothing was changed at all.
DROP FUNCTION IF EXISTS keeper.settle_carried(int, bigint, text[], text[], bigint[], boolean, bigint);
DROP FUNCTION IF EXISTS keeper.settle_carried(int, bigint, text[], bigint[], bigint[], text[], bigint[], boolean, bigint);
CREATE OR REPLACE FUNCTION keeper.settle_carried(q int, my_epoch bigint, sessions text[], of_note bigint, firsts bigint[],
  masks bigint[], complete bigint[], complete_masks bigint[], folds bigint[], fold_masks bigint[], over_notes bigint[], done_sessions text[],
  done_seqs bigint[], lenient boolean, of_shard bigint)
RETURNS SETOF text
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  PERFORM 1 FROM keeper.reader r
    WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp()
      AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch)
      FOR KEY SHARE OF r;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this process is not the reader any more' USING ERRCODE = 'SK002';
  END IF;
  IF EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q) THEN
    RETURN QUERY
      SELECT s.session
        FROM unnest(sessions) s(session)
             CROSS JOIN LATERAL (SELECT FROM keeper.lane x WHERE x.queue = q AND x.session = s.session OFFSET 0) l;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  PERFORM keeper.complete_bundled(q, of_note, firsts, masks, complete, complete_masks, lenient, of_shard);
  IF cardinality(folds) > 0 THEN
    PERFORM keeper.tick_off(q, f.first, f.mask) FROM unnest(folds, fold_masks) f(first, mask);
  END IF;
  IF cardinality(over_notes) > 0 THEN
    DELETE FROM keeper.completion c WHERE c.queue = q AND c.note = ANY (over_notes);
  END IF;
  IF cardinality(done_seqs) > 0 THEN
    PERFORM keeper.complete_messages(q, done_sessions, done_seqs, NULL, lenient, of_shard);
  END IF;
END $$;

-- Gives carried sessions their lanes: held ones (epoch above zero) with what is left of their lease, others ready. heads:
-- their places in the line, zero where the lane has to be looked at; of held ones what is in hand at most. With known_to
-- it is the end of reading: everything that this snapshot sees has its lane then. firsts: bundles of which messages are in
-- memory; those of the sessions become rows, at the end all of them. read_to: NULL, or the number up to which bundles have
-- been read that this snapshot sees. Tells the ends of the leases, and one row
-- without a session; nothing at all when the reader is not one any more (its fence, above), and then nothing was changed: "known"
-- in particular never becomes a snapshot that the database has forgotten.
DROP FUNCTION IF EXISTS keeper.write_down(int, bigint, text, text[], bigint[], text[], bigint[], bigint[], text, bigint);
CREATE OR REPLACE FUNCTION keeper.write_down(q int, my_epoch bigint, at_node text, sessions text[], epochs bigint[],
  owners text[], lefts_us bigint[], heads bigint[], firsts bigint[], known_to text, read_to bigint, of_shard bigint)
RETURNS TABLE (of_session text, held_until timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  one text;
  others text[];
  other_heads bigint[];
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  IF known_to IS NOT NULL THEN
    PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  END IF;
  PERFORM 1 FROM keeper.reader r
    WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp()
      AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch)
      FOR UPDATE OF r;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM keeper.fold_notes(q);
  IF cardinality(firsts) > 0 THEN
    -- Who is not among the sessions, but has something left, has waited as long as that.
    WITH rows AS MATERIALIZED (
      SELECT * FROM keeper.untie(q, firsts, CASE WHEN known_to IS NULL THEN sessions END))
    SELECT array_agg(o.session ORDER BY o.session), array_agg(o.head ORDER BY o.session) INTO others, other_heads
      FROM (SELECT r.of_session AS session, min(r.of_seq) AS head FROM rows r
             WHERE r.of_session NOT IN (SELECT unnest(sessions)) GROUP BY r.of_session) o;
  END IF;
  -- A carried hold is written down about a second after it began.
  INSERT INTO keeper.lane (queue, session, status, place, until, epoch, reached, owner, node, held_since)
  SELECT q, s.session, CASE WHEN s.epoch > 0 THEN 1 ELSE 0 END, COALESCE(NULLIF(s.head, 0), nextval('keeper.message_seq')),
         CASE WHEN s.epoch > 0 THEN clock_timestamp() + keeper.micros(s.left_us) END, s.epoch,
         CASE WHEN s.epoch > 0 THEN s.head ELSE 0 END, CASE WHEN s.epoch > 0 THEN s.owner END,
         CASE WHEN s.epoch > 0 THEN at_node END, CASE WHEN s.epoch > 0 THEN clock_timestamp() END
    FROM unnest(sessions, epochs, owners, lefts_us, heads) s(session, epoch, owner, left_us, head)
   ORDER BY s.session
  ON CONFLICT DO NOTHING;
  INSERT INTO keeper.lane (queue, session, status, place)
  SELECT q, o.session, 0, o.head FROM unnest(others, other_heads) o(session, head) ON CONFLICT DO NOTHING;
  -- Whose head may be due later, or too old, or settled by now.
  FOR one IN SELECT s.session FROM unnest(sessions, epochs, heads) s(session, epoch, head)
              WHERE s.epoch = 0 AND s.head = 0 LOOP
    PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = one AND l.status + 0 = 0 FOR UPDATE;
    IF FOUND THEN
      PERFORM keeper.place_lane(q, one, of_shard);
    END IF;
  END LOOP;
  IF known_to IS NOT NULL THEN
    UPDATE keeper.discovery d SET known = known_to::pg_snapshot, left_after = read_to WHERE d.queue = q;
    DELETE FROM keeper.reader r WHERE r.queue = q;
  END IF;
  RETURN QUERY
    SELECT s.session, l.until
      FROM unnest(sessions, epochs) s(session, epoch)
           CROSS JOIN LATERAL (SELECT x.until, x.epoch FROM keeper.lane x
                                WHERE x.queue = q AND x.session = s.session OFFSET 0) l
     WHERE s.epoch > 0 AND l.epoch = s.epoch;
  RETURN QUERY SELECT NULL::text, NULL::timestamptz;
END $$;

-- Another process wants sessions of this queue: its reader stops being one.
CREATE OR REPLACE FUNCTION keeper.ask_reader(q int) RETURNS void
LANGUAGE sql AS $$
  UPDATE keeper.discovery d SET asked_at = clock_timestamp() WHERE d.queue = q
$$;

-- Ends a reading that this process began without learning of it.
CREATE OR REPLACE FUNCTION keeper.forget_reader(q int, at_node text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM keeper.reader r WHERE r.queue = q AND r.node = at_node;
  IF FOUND THEN
    PERFORM keeper.fold_notes(q);
  END IF;
END $$;

-- queues/R__9_remove.sql
-- Queues that are emptied and deleted.

-- Deletes all messages and leases of a queue. Dead letters, session state and remembered ids stay. The owner of a lease finds no
-- lane and has lost it. -1 when a process carries sessions of this queue: the caller makes it write them down and tries again.
CREATE OR REPLACE FUNCTION keeper.purge_queue(q int, of_shard bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
  purged bigint;
  more bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- Nobody discovers or begins to read meanwhile.
  PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp()) THEN
    RETURN -1;
  END IF;
  PERFORM keeper.fold_notes(q);
  DELETE FROM keeper.lane l WHERE l.queue = q;
  DELETE FROM keeper.late_session s WHERE s.queue = q;
  WITH gone AS (DELETE FROM keeper.bundle b WHERE b.queue = q RETURNING bit_count((b.members & ~b.done)::bit(64)) AS open)
  SELECT COALESCE(sum(g.open), 0) INTO purged FROM gone g;
  DELETE FROM keeper.message m WHERE m.queue = q;
  GET DIAGNOSTICS more = ROW_COUNT;
  purged := purged + more;
  DELETE FROM keeper.loose_message m WHERE m.queue = q;
  GET DIAGNOSTICS more = ROW_COUNT;
  purged := purged + more;
  PERFORM keeper.add_to_tally(q, of_shard, 0, purged, 0);
  RETURN purged;
END $$;

-- Deletes all dead letters of a queue.
CREATE OR REPLACE FUNCTION keeper.purge_dead_letters(q int, of_shard bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
  purged bigint;
BEGIN
  DELETE FROM keeper.dead_letter d WHERE d.queue = q;
  GET DIAGNOSTICS purged = ROW_COUNT;
  PERFORM keeper.add_to_tally(q, of_shard, 0, 0, -purged);
  RETURN purged;
END $$;

-- Deletes everything of a queue that no longer has a row of its own: every table of the schema names its queue by number. A
-- number is never given out again, so rows that a transaction stored meanwhile are garbage that harms nobody.
CREATE OR REPLACE FUNCTION keeper.delete_rows_of(q int) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  of_table regclass;
BEGIN
  FOR of_table IN
    SELECT c.oid::regclass
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'keeper'
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'queue' AND a.atttypid = 'int4'::regtype AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
     -- Discovery first: whoever reads the queue has it locked.
     ORDER BY c.relname <> 'discovery', c.relname
  LOOP
    EXECUTE format('DELETE FROM %s WHERE queue = $1', of_table) USING q;
  END LOOP;
END $$;

-- last_values/V1__last_values.sql
-- The newest value of each key. Updated often and in place, so pages keep room for the next version of their rows.
CREATE TABLE keeper.last_value (
  space   text        NOT NULL,
  key     text        NOT NULL,
  version bigint      NOT NULL,
  value   text        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (space, key)
) WITH (fillfactor = 50);

-- Values that were refused for good, with the reason.
CREATE TABLE keeper.last_value_dead (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space   text        NOT NULL,
  key     text        NOT NULL,
  version bigint      NOT NULL,
  value   text        NOT NULL,
  cause   text        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- work/V1__requests.sql
-- Rounds of workers over HTTP, by the id that the worker gave: a repetition finds the result of the first one. Rows live
-- for ten minutes.
CREATE TABLE keeper.work_request (
  queue      text        NOT NULL,
  credential text        NOT NULL,
  request_id text        NOT NULL,
  outcomes   text[]      NOT NULL,
  sessions   text[]      NOT NULL,
  epochs     bigint[]    NOT NULL,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (queue, credential, request_id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX work_request_at ON keeper.work_request (at);

-- work/V1_1__leases.sql
-- A round names the leases that it handed out as their owner shows them.
ALTER TABLE keeper.work_request DROP COLUMN sessions, DROP COLUMN epochs,
  ADD COLUMN leases text[] NOT NULL DEFAULT '{}';

-- inspect/V1__attempts.sql
-- Failed attempts of messages of ordered queues, for people who ask why a session does not move. A trigger writes them in the
-- statement that settles, and only when an attempt fails: an attempt that succeeds costs nothing, and no attempt that counts is lost.
CREATE TABLE keeper.attempt (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue   int         NOT NULL,
  session text        COLLATE "C" NOT NULL,
  seq     bigint      NOT NULL,
  attempt int         NOT NULL,
  -- Postponed: it comes again, and the attempt does not count.
  counted boolean     NOT NULL,
  epoch   bigint,
  owner   text,
  at      timestamptz NOT NULL,
  error   text        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

CREATE INDEX attempt_session ON keeper.attempt (queue, session, id);
CREATE INDEX attempt_at ON keeper.attempt (at);

CREATE FUNCTION keeper.remember_attempt() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  INSERT INTO keeper.attempt (queue, session, seq, attempt, counted, epoch, owner, at, error)
  SELECT NEW.queue, NEW.session, NEW.seq, NEW.attempts, NEW.attempts > OLD.attempts, l.epoch, l.owner, NEW.failed_at,
         left(COALESCE(NEW.last_error, ''), 4000)
    FROM (SELECT) one LEFT JOIN keeper.lane l ON l.queue = NEW.queue AND l.session = NEW.session;
  RETURN NULL;
END $$;

CREATE TRIGGER remember_attempt AFTER UPDATE OF failed_at ON keeper.message
  FOR EACH ROW WHEN (NEW.failed_at IS DISTINCT FROM OLD.failed_at) EXECUTE FUNCTION keeper.remember_attempt();

-- The bodies that dead letters had before a person repaired them.
CREATE TABLE keeper.repaired_body (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dead_letter  bigint      NOT NULL,
  message_id   text        COLLATE "C" NOT NULL,
  queue        text        COLLATE "C" NOT NULL,
  form         smallint    NOT NULL,
  content_type text        NOT NULL,
  body         bytea       NOT NULL,
  digest       bytea       NOT NULL,
  actor        text        NOT NULL,
  at           timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX repaired_body_message ON keeper.repaired_body (queue, message_id, id);

-- streams/V1__publishing.sql
-- A publisher's own id of an event, and the key under which a repeated request finds it. Keys live as long as their
-- events.
ALTER TABLE keeper.stream_event
  ADD COLUMN external_id text,
  ADD COLUMN key         text;
CREATE UNIQUE INDEX stream_event_key ON keeper.stream_event (stream, key) WHERE key IS NOT NULL;

-- Subscribers whose position moves only when they acknowledge.
ALTER TABLE keeper.stream_subscriber ADD COLUMN acknowledges boolean NOT NULL DEFAULT false;

-- jobs/V1__jobs.sql
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

-- jobs/V2__progress.sql
-- How far a run has come, in its own words; only the newest word is kept. A run writes into the row of its own epoch, so
-- one that has lost its lease disturbs nobody.
ALTER TABLE keeper.job_run ADD COLUMN progress text, ADD COLUMN progress_no bigint NOT NULL DEFAULT 0;

-- jobs/V3__clock.sql
-- How long the lease was when its owner took the job: with it, a lease that ends later than this from now was taken or
-- renewed by a clock that has been set back since.
ALTER TABLE keeper.job ADD COLUMN lease_millis bigint NOT NULL DEFAULT 3600000;
-- When a run ended well for the last time.
ALTER TABLE keeper.job ADD COLUMN last_success_at timestamptz;

-- registry/V1__registry.sql
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

-- registry/V2__clock_and_lists.sql
-- When a lane was written last: one that was written in the future belongs to a clock that has been set back since.
ALTER TABLE keeper.usage_lane ADD COLUMN touched_at timestamptz;

-- Lists by capacity. Ids grow with time, so an id is also the place in a list.
CREATE INDEX registered_session_capacity ON keeper.registered_session (capacity_id, session_id);

-- The ledger from a time on. Rows come in the order of time, so a block's range is enough, and costs a writer nothing.
CREATE INDEX usage_ledger_to ON keeper.usage_ledger USING brin (period_to)
  WITH (pages_per_range = 16, autosummarize = on);

-- registry/R__put_session.sql
-- A session as the event log shows it.
CREATE OR REPLACE FUNCTION keeper.session_json(s keeper.registered_session) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format('{"sessionId":"%s","userObjectId":"%s","tenantObjectId":"%s","capacityId":"%s","sessionKind":%s,'
             || '"sessionStartUtc":"%s","sessionEndUtc":"%s"}',
                s.session_id, s.user_id, s.tenant_id, s.capacity_id, s.kind,
                to_char(s.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                to_char(coalesce(s.ended_at, s.expires_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
$$;

-- The domain event of a change, in its transaction.
CREATE OR REPLACE FUNCTION keeper.tell_session(p_event text, s keeper.registered_session) RETURNS void
LANGUAGE sql VOLATILE AS $$
  INSERT INTO keeper.stream_outbox (stream, event, data)
  VALUES ('keeper.registry', p_event, keeper.session_json(s))
$$;

-- Begins a session, if the key is free, and tells it; nothing if another has the key. The caller has read the time p_at.
-- p_check: where no row could be locked, a session of this key may have begun and ended since the time was read, and a
-- clock may have gone back. Once the key is taken no other can: what has ended, ended before this one.
CREATE OR REPLACE FUNCTION keeper.begin_session(
  p_tenant uuid, p_user uuid, p_capacity uuid, p_kind smallint, p_factor_milli int, p_period_micros bigint,
  p_lifetime interval, p_at timestamptz, p_check boolean)
RETURNS keeper.registered_session LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  s keeper.registered_session;
  n timestamptz;
BEGIN
  INSERT INTO keeper.registered_session
         (session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros,
          started_at, expires_at, metered_through)
  VALUES (keeper.session_id(p_at), p_tenant, p_user, p_capacity, p_kind, p_factor_milli, p_period_micros,
          p_at, p_at + p_lifetime, p_at)
  ON CONFLICT (user_id, capacity_id) WHERE ended_at IS NULL DO NOTHING
  RETURNING * INTO s;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF p_check THEN
    SELECT max(r.ended_at) INTO n FROM keeper.registered_session r
     WHERE r.user_id = p_user AND r.capacity_id = p_capacity;
    IF n > s.started_at THEN
      n := greatest(n, keeper.now());
      UPDATE keeper.registered_session r
         SET started_at = n, expires_at = n + p_lifetime, metered_through = n
       WHERE r.session_id = s.session_id
      RETURNING r.* INTO s;
    END IF;
  END IF;
  PERFORM keeper.tell_session('session.created', s);
  RETURN s;
END $$;

-- PUT in one call and one transaction. The time is read after the lock: read before, two waiting callers could start
-- sessions in the past of the one that went first. A lost race with another insert is a new look.
CREATE OR REPLACE FUNCTION keeper.put_session(
  p_tenant uuid, p_user uuid, p_capacity uuid, p_kind smallint, p_factor_milli int, p_period_micros bigint,
  p_lifetime interval, OUT status text, OUT s keeper.registered_session)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  n timestamptz;
  held keeper.registered_session;
BEGIN
  FOR turn IN 1..20 LOOP
    status := 'created';
    SELECT * INTO held FROM keeper.registered_session r
     WHERE r.user_id = p_user AND r.capacity_id = p_capacity AND r.ended_at IS NULL
       FOR NO KEY UPDATE;
    n := keeper.now();
    IF FOUND THEN
      -- A clock that went back does not start a session inside of its predecessor.
      n := greatest(n, held.started_at, held.metered_through);
      IF held.expires_at <= n THEN
        PERFORM keeper.end_session(held, held.expires_at, 'expired');
      ELSIF held.tenant_id <> p_tenant THEN
        status := 'tenant-mismatch';
        RETURN;
      ELSIF held.kind >= p_kind THEN
        status := 'existing';
        s := held;
        RETURN;
      ELSE
        PERFORM keeper.end_session(held, n, 'upgraded');
        status := 'upgraded';
      END IF;
    END IF;
    s := keeper.begin_session(p_tenant, p_user, p_capacity, p_kind, p_factor_milli, p_period_micros, p_lifetime, n,
                              status = 'created');
    IF s.session_id IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'put_session made no progress' USING ERRCODE = '40001';
END $$;

-- Begins sessions of many keys in one call and one commit, as far as the keys are free; what is not answered is not
-- begun. In the order of the keys, so that two of these never wait for each other in a circle. Nobody waits here for
-- the lock of a stranger's row: only for an INSERT of the same key that has not ended, and not for long.
-- Rows that begin are one INSERT, events another: what a statement costs before its first row is paid once. Plans are
-- kept: made anew for each group they cost more than the group.
CREATE OR REPLACE FUNCTION keeper.begin_sessions(
  p_tenants uuid[], p_users uuid[], p_capacities uuid[], p_kinds int[], p_factors_milli int[],
  p_period_micros bigint, p_lifetime interval)
RETURNS TABLE (place int, began uuid, starts_at timestamptz, ends_at timestamptz)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '250ms'
AS $$
DECLARE
  n timestamptz := keeper.now();
  ids uuid[] := ARRAY(SELECT keeper.session_id(n) FROM unnest(p_users));
BEGIN
  RETURN QUERY
    WITH fresh AS (
      INSERT INTO keeper.registered_session AS s
             (session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros,
              started_at, expires_at, metered_through)
      SELECT w.id, w.t, w.u, w.c, w.k, w.f, p_period_micros, n, n + p_lifetime, n
        FROM unnest(ids, p_tenants, p_users, p_capacities, p_kinds, p_factors_milli) AS w (id, t, u, c, k, f)
       ORDER BY w.u, w.c
      ON CONFLICT (user_id, capacity_id) WHERE ended_at IS NULL DO NOTHING
      RETURNING s),
    told AS (
      INSERT INTO keeper.stream_outbox (stream, event, data)
      SELECT 'keeper.registry', 'session.created', keeper.session_json(s) FROM fresh)
    SELECT array_position(ids, (s).session_id), (s).session_id, (s).started_at, (s).expires_at FROM fresh;

  -- As in begin_session: the keys are taken now, and what has ended, ended before. One that ended after the time was
  -- read is rare: then nothing is begun here, and each is put alone.
  IF EXISTS (SELECT FROM unnest(p_users, p_capacities) AS w (u, c),
                         LATERAL (SELECT FROM keeper.registered_session r
                                   WHERE r.user_id = w.u AND r.capacity_id = w.c AND r.ended_at > n OFFSET 0) late) THEN
    RAISE EXCEPTION 'A key was taken and given back meanwhile' USING ERRCODE = 'lock_not_available';
  END IF;
END $$;

-- gateway/V1__events.sql
-- Deliveries of GitHub, each stored once. seq is drawn under the locks of the sessions the event goes to, so within a
-- session it grows with the order of commits.
CREATE TABLE keeper.github_event (
  seq          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- derived from the delivery id, which makes it unique by that
  id           uuid        NOT NULL,
  delivery_id  text        NOT NULL,
  type         text        NOT NULL,
  action       text,
  repository   text        COLLATE "C",
  entity_type  text        NOT NULL,
  entity_id    text        NOT NULL,
  -- of entity scope, whichever scope the bots have
  session      text        COLLATE "C" NOT NULL,
  received_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  traceparent  text        NOT NULL,
  headers      text        NOT NULL,
  -- for every bot of that time: whether it matched, and why
  verdicts     text        NOT NULL,
  content_type text        NOT NULL,
  payload      bytea       NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);

CREATE UNIQUE INDEX github_event_id ON keeper.github_event (id);
CREATE INDEX github_event_received ON keeper.github_event (received_at);
CREATE INDEX github_event_repository ON keeper.github_event (repository, seq);
CREATE INDEX github_event_type ON keeper.github_event (type, seq);
CREATE INDEX github_event_session ON keeper.github_event (session, seq);

-- The messages that were made of an event: one per bot, and more by replays.
CREATE TABLE keeper.github_route (
  event      bigint      NOT NULL REFERENCES keeper.github_event (seq) ON DELETE CASCADE,
  message_id text        COLLATE "C" NOT NULL,
  bot        text        COLLATE "C" NOT NULL,
  queue      text        COLLATE "C" NOT NULL,
  session    text        COLLATE "C",
  replay     uuid,
  PRIMARY KEY (event, message_id)
);

CREATE INDEX github_route_bot ON keeper.github_route (bot, event);
CREATE INDEX github_route_session ON keeper.github_route (session, event);

-- Replays, each done in steps: next_seq is the first event that is not sent again yet.
CREATE TABLE keeper.github_replay (
  id           uuid        PRIMARY KEY,
  -- the same request has the same key
  request_key  text        NOT NULL,
  actor        text        NOT NULL,
  reason       text        NOT NULL,
  selection    text        NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at  timestamptz,
  next_seq     bigint      NOT NULL DEFAULT 0,
  -- events that came after the request are not part of it
  last_seq     bigint      NOT NULL,
  events       int         NOT NULL DEFAULT 0,
  messages     int         NOT NULL DEFAULT 0
);

CREATE INDEX github_replay_key ON keeper.github_replay (request_key, requested_at);

-- gateway/V2__shared_payloads.sql
-- The payload is kept once for the event and all of its messages: in keeper.shared_body, under the event's id. It stands
-- here only where it is not the body of any message: of a form, over a queue's limit, very short, or for nobody.
ALTER TABLE keeper.github_event ALTER COLUMN payload DROP NOT NULL;

-- Events and routes are written in one transaction and forgotten in one; to check that at every row cost more than the row.
ALTER TABLE keeper.github_route DROP CONSTRAINT github_route_event_fkey;

-- gateway/V3__digests.sql
-- GitHub signs the body alone. By its digest the same signed body is known again, whatever delivery id and event name come with
-- it. Events of earlier versions have none.
ALTER TABLE keeper.github_event ADD COLUMN digest bytea;

CREATE UNIQUE INDEX github_event_digest ON keeper.github_event (digest) WHERE digest IS NOT NULL;

-- gateway/V4__held_sessions.sql
-- Sessions of bots that are held now, over all servers and whatever provider the queues have. A row ends with its lease: after
-- its time it counts no more, so that the death of a server frees its places.
CREATE TABLE keeper.bot_hold (
  queue       text        COLLATE "C" NOT NULL,
  session     text        COLLATE "C" NOT NULL,
  epoch       bigint      NOT NULL,
  taken_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  active_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  until       timestamptz NOT NULL,
  messages    int         NOT NULL DEFAULT 0,
  -- handed out and not yet settled
  in_hand     int         NOT NULL DEFAULT 0,
  entity_type text        NOT NULL DEFAULT 'none',
  PRIMARY KEY (queue, session)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000);

-- gateway/V5__outages.sql
-- Messages of pushed bots that have met an endpoint out of order, so that a server that takes a session over goes on with the
-- retry schedule of the one before it. A row goes with the end of its message.
CREATE TABLE keeper.bot_outage (
  queue      text        COLLATE "C" NOT NULL,
  message_id text        COLLATE "C" NOT NULL,
  -- of the outage that lasts
  since      timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- failed posts in the outage that lasts; 0 when the endpoint has answered since
  times      int         NOT NULL DEFAULT 1,
  -- failed posts in all outages
  posts      int         NOT NULL DEFAULT 1,
  touched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (queue, message_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- bulk/V1__bulk.sql
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
