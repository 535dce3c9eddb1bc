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

-- queues/V1_15__asks.sql
-- What processes want from the one that reads a queue alone. It does not end the reading, but for one kind of ask.

-- One session is to have a lane: somebody takes it by its name, acts on it, or has replayed a message of it.
CREATE TABLE keeper.ask (
  queue       int         NOT NULL,
  id          bigint      GENERATED ALWAYS AS IDENTITY,
  -- Empty: the reader is to write everything down and to stop.
  session     text        COLLATE "C" NOT NULL,
  -- Whether it gets a lane although it has no message.
  needs_lane  boolean     NOT NULL,
  asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- For a while after this moment the reader leaves the lane alone, for who asked.
  answered_at timestamptz,
  PRIMARY KEY (queue, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

-- queues/V1_16__attention.sql
-- Lists of sessions that need a person: each status in the order of its sessions, however many lanes there are.
CREATE INDEX lane_attention ON keeper.lane ((queue::bigint), (COALESCE(aside, status)), session)
 WHERE status IN (2, 3, 4) OR aside IS NOT NULL;

-- queues/V1_17__buckets.sql
-- Several processes may read a queue, each its own part of the sessions. A session is in one of 64 buckets, by a hash of its
-- name (keeper.bucket_of), and a set of buckets is one number with 64 bits.

-- Which buckets a bundle has messages of, as far as its sender cared to find out: all of them say nothing.
ALTER TABLE keeper.bundle ADD COLUMN buckets bigint NOT NULL DEFAULT -1;

-- Which buckets are whose. It never changes while the row is there: who gets another part has another row, with another epoch.
ALTER TABLE keeper.reader ADD COLUMN owns bigint NOT NULL DEFAULT -1;
ALTER TABLE keeper.reader DROP CONSTRAINT reader_pkey;
ALTER TABLE keeper.reader DROP CONSTRAINT reader_queue_epoch_key;
ALTER TABLE keeper.reader ADD PRIMARY KEY (queue, epoch);
ALTER TABLE keeper.reading DROP CONSTRAINT reading_pkey;
ALTER TABLE keeper.reading ADD PRIMARY KEY (queue, epoch);

-- The reader whose note it is; zero: of the time when there was only one.
ALTER TABLE keeper.completion ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
ALTER TABLE keeper.completion DROP CONSTRAINT completion_pkey;
ALTER TABLE keeper.completion ADD PRIMARY KEY (queue, epoch, note);

-- An ask without a session: a process wants so many, whichever they are, of any reader but itself.
ALTER TABLE keeper.ask ADD COLUMN how_many int NOT NULL DEFAULT 0, ADD COLUMN node text;

-- queues/V1_18__failed_heads.sql
-- Messages of batches that were retried: how often each has failed. Only the first message of a session can have failed, so a
-- session has one row at most; the next failed message of the session replaces it. A row whose message has left its batch says
-- nothing any more, and housekeeping deletes it.
CREATE TABLE keeper.failed_head (
  queue      int         NOT NULL,
  session    text        COLLATE "C" NOT NULL,
  seq        bigint      NOT NULL,
  attempts   int         NOT NULL,
  failed_at  timestamptz NOT NULL,
  last_error text        NOT NULL,
  PRIMARY KEY (queue, session)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000, vacuum_truncate = off);

-- queues/R__0_bundles.sql
-- Message batches, and how they are unpacked into rows.

-- Returns the bucket of a session, from 0 to 63. The Java class Buckets computes the same number.
CREATE OR REPLACE FUNCTION keeper.bucket_of(session text) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
AS $$ SELECT get_byte(sha256(convert_to(session, 'UTF8')), 0) & 63 $$;

-- Returns whether the set contains the bucket of the session.
CREATE OR REPLACE FUNCTION keeper.is_of(session text, buckets bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT buckets = -1 OR (buckets <> 0 AND (buckets >> keeper.bucket_of(session)) & 1 = 1) $$;

-- Returns the messages that are left in a batch, according to the bits in its own row.
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

-- Returns the completed bits of batches, according to the completion records.
CREATE OR REPLACE VIEW keeper.noted AS
SELECT c.queue, u.first, bit_or(u.mask) AS mask
  FROM keeper.completion c CROSS JOIN LATERAL unnest(c.firsts, c.masks) u(first, mask)
 GROUP BY c.queue, u.first;

-- All waiting messages of ordered queues, however they are stored: for operators and tests.
CREATE OR REPLACE VIEW keeper.waiting_message AS
SELECT m.queue, m.seq, m.session, m.message_id, m.form, m.content_type, m.body, m.properties, m.enqueued_at, m.expires_at
  FROM keeper.message m
 UNION ALL
SELECT b.queue, b.seq, b.session, b.message_id, b.form, b.content_type, b.body, b.properties, b.enqueued_at, b.expires_at
  FROM keeper.bundled_message b LEFT JOIN keeper.noted n ON n.queue = b.queue AND n.first = b.bundle
 WHERE n.mask IS NULL OR (n.mask >> (b.seq - b.bundle)::int) & 1 = 0;

-- Sets bits of a batch, and deletes the batch with its last bit.
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

-- Merges completion records of a reader, or of all (NULL), into their batches. The caller has ended the reader, or prevents
-- its settlements.
DROP FUNCTION IF EXISTS keeper.fold_notes(int);
CREATE OR REPLACE FUNCTION keeper.fold_notes(q int, of_reader bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  PERFORM keeper.tick_off(q, n.first, n.mask)
     FROM (SELECT u.first, bit_or(u.mask) AS mask
             FROM keeper.completion c CROSS JOIN LATERAL unnest(c.firsts, c.masks) u(first, mask)
            WHERE c.queue = q AND (of_reader IS NULL OR c.epoch IN (of_reader, 0))
            GROUP BY u.first ORDER BY u.first OFFSET 0) n;
  DELETE FROM keeper.completion c WHERE c.queue = q AND (of_reader IS NULL OR c.epoch IN (of_reader, 0));
END $$;

-- Returns batches that were not unpacked, by a snapshot and a number of discovery. The scan never begins at the first
-- number, because deleted rows stay there while a transaction may still see them.
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

-- Rows that were just made of messages that have failed in memory take over their failed attempts.
CREATE OR REPLACE FUNCTION keeper.take_failures(q int, of_sessions text[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  taken text[];
  one text;
BEGIN
  -- failed_head_pkey, message_pkey
  IF of_sessions IS NULL THEN
    of_sessions := ARRAY(SELECT f.session FROM keeper.failed_head f WHERE f.queue = q);
  END IF;
  taken := ARRAY(
    SELECT f.session
      FROM unnest(of_sessions) s(session)
           CROSS JOIN LATERAL (SELECT * FROM keeper.failed_head x WHERE x.queue = q AND x.session = s.session OFFSET 0) f
           CROSS JOIN LATERAL (SELECT FROM keeper.message y WHERE y.queue = q AND y.session = f.session AND y.seq = f.seq OFFSET 0) m);
  FOREACH one IN ARRAY taken LOOP
    UPDATE keeper.message m
       SET attempts = m.attempts + f.attempts, last_error = f.last_error, failed_at = f.failed_at, due_at = f.failed_at
      FROM keeper.failed_head f
     WHERE f.queue = q AND f.session = one AND m.queue = q AND m.session = one AND m.seq = f.seq;
    DELETE FROM keeper.failed_head f WHERE f.queue = q AND f.session = one;
  END LOOP;
END $$;

-- Unpacks batches, or only the messages of some sessions in them. The caller prevents that another transaction unpacks them:
-- it has locked discovery while there is no reader, or is the reader. Returns the new rows.
CREATE OR REPLACE FUNCTION keeper.untie(q int, firsts bigint[], of_sessions text[])
RETURNS TABLE (of_session text, of_seq bigint, due timestamptz, stored_at timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  -- A transaction that completes messages of a batch has locked it, so the next statement sees all completed bits.
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
  IF EXISTS (SELECT FROM keeper.failed_head f WHERE f.queue = q) THEN
    PERFORM keeper.take_failures(q, of_sessions);
  END IF;
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

-- Unpacks all stored messages of one session, unless the queue has a reader, and ensures that the session has a row. Returns
-- false if there are no messages.
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
  -- The remaining messages, and the new ones.
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
    -- Key share: a transaction that deletes the row searches for messages after it has the lock. Nothing waits while
    -- discovery is locked.
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
-- The parts that all changes of session rows share. Plans are pinned in the functions, not on connections, so they hold
-- through any pool, and on empty, freshly vacuumed and large tables alike (docs/explanation/postgresql.md).

CREATE OR REPLACE FUNCTION keeper.micros(us bigint) RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT us * interval '1 microsecond' $$;

-- Refuses a transaction that is not in READ COMMITTED. Functions that lock a row and read in a later statement call it: at
-- other levels, that statement would not see the commit of the previous owner of the lock.
CREATE OR REPLACE FUNCTION keeper.refuse_isolation() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The transaction is in %, where queues would miss messages; use READ COMMITTED for it',
    upper(current_setting('transaction_isolation')) USING ERRCODE = 'SK003';
END $$;

-- Adds to the counts of a queue. A negative shard creates a row of its own, so that no transaction waits for another one.
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

-- Makes a message of an ordered queue a dead letter. The caller has locked the session row.
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

-- Returns whether the time to live of a session is stopped. Only called for messages that seem to have expired.
CREATE OR REPLACE FUNCTION keeper.is_frozen(q int, of_session text) RETURNS boolean
LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$ SELECT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = of_session AND l.frozen_since IS NOT NULL) $$;

-- Resumes the time to live, unless the session is set aside: its messages live longer by the time of the stop. The caller
-- has locked the session row.
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

-- Sets status and ready order of a session without an owner. The caller has locked the row FOR UPDATE in an earlier
-- statement, so this one sees all messages that were ever discovered for the session.
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

-- Counts a failed attempt of a head, and applies the poison policy. Returns true if the message has left the session.
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
      -- The message stays at the head and is retried.
      UPDATE keeper.lane l SET frozen_since = clock_timestamp()
       WHERE l.queue = q AND l.session = of_session AND l.frozen_since IS NULL;
  END CASE;
END $$;

-- Ends an expired lease: the first open message has used its attempt, later ones have not (S-05). The caller has locked the
-- session row FOR UPDATE.
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

-- Makes sessions ready whose lease has expired or whose head is due. Returns when to look next.
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
  -- Messages of parked, paused and held sessions stay, and must not hide expired ones of other sessions.
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

-- Locks the rows of these sessions against deletion, without waiting: "shared" are locked, "busy" are locked by another
-- transaction, all others have no row. The caller prevents new rows: it has locked discovery, or is the reader.
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

-- Remembers sessions whose rows are busy, for the next poll.
CREATE OR REPLACE FUNCTION keeper.come_back_to(q int, busy text[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  IF cardinality(busy) > 0 THEN
    INSERT INTO keeper.late_session (queue, session) SELECT q, b.session FROM unnest(busy) b(session) ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- Checks sessions again whose rows were busy, and creates rows that were deleted meanwhile. Returns the sessions that have
-- rows now. The caller prevents new rows in these buckets, as above.
DROP FUNCTION IF EXISTS keeper.place_late_sessions(int, bigint);
CREATE OR REPLACE FUNCTION keeper.place_late_sessions(q int, of_buckets bigint, of_shard bigint) RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  late text[] := ARRAY(SELECT s.session FROM keeper.late_session s
                       WHERE s.queue = q AND keeper.is_of(s.session, of_buckets) ORDER BY s.session LIMIT 1000);
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
      -- The head may be due later, or may have expired.
      PERFORM keeper.place_lane(q, one, of_shard);
    END IF;
  END LOOP;
  DELETE FROM keeper.late_session s WHERE s.queue = q AND s.session = ANY (late) AND s.session <> ALL (busy);
  RETURN shared;
END $$;

-- queues/R__2_claim.sql
-- Finds new messages, gives their sessions rows, and claims ready sessions for waiting callers, in one round trip.

-- LATERAL (… OFFSET 0): rows are looked up one by one, by the keys of a given list. On an empty or just vacuumed table the
-- planner would otherwise choose to scan the table, and keep that plan. Rows found this way are changed by their ctid, which
-- cannot move while they are locked.

-- One message to deliver, or other information. kind 1: a session that was claimed or fetched, with one of its messages or
-- none; 2: a held session with news; 3: a session whose lease is lost; 0: the summary.
DO $$ BEGIN
  IF to_regtype('keeper.handed') IS NULL THEN
    CREATE TYPE keeper.handed AS (
      kind smallint, session text, epoch bigint, until timestamptz, node text, seq bigint, attempts int, form smallint,
      is_expired boolean, enqueued_at timestamptz, due_at timestamptz, not_before timestamptz, ttl_us bigint,
      message_id text, content_type text, body bytea, properties text, replays int);
  END IF;
END $$;

-- Locks discovery. A caller that has work already does not wait; others wait a moment. Returns false if another transaction
-- has the lock.
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

-- Returns the bytes of a payload, wherever it is stored.
CREATE OR REPLACE FUNCTION keeper.body_size(form smallint, body bytea) RETURNS bigint
LANGUAGE sql STABLE
AS $$
  SELECT CASE WHEN form < 4 THEN octet_length(body)
              ELSE (SELECT octet_length(b.bytes) FROM keeper.shared_body b WHERE b.id = encode(body, 'hex')::uuid) END::bigint
$$;

-- The most bytes that a statement with locks may return. The server keeps the locks until the client has read the answer, so
-- the answer must fit into the buffers on the way to a frozen client.
CREATE OR REPLACE FUNCTION keeper.most_with_locks() RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 49152::bigint $$;

-- owners: one for each waiting caller. batch: messages fetched with each session. from_place: where the ready order began
-- lately; earlier entries are mostly traces of claimed sessions, and are searched only if there are not enough later ones.
-- The summary returns where the ready order begins now (seq), the reader of the whole queue (node), whether more batches
-- exist than were unpacked (attempts; one call unpacks a limited number of messages, in their order), whether a later poll
-- must look at a locked row again (form), and when the first new message is due that is not due yet (due_at).
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
  -- Whether a reader has died that may have had open deliveries.
  has_taken_over boolean := false;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT keeper.micros(k.lock_us) INTO lease FROM keeper.queue k WHERE k.id = q;
  -- The reader of this process, which it may not know of, or else any living one.
  SELECT * INTO reader FROM keeper.reader r WHERE r.queue = q ORDER BY r.until <= moment, r.node <> at_node LIMIT 1;
  IF FOUND THEN
    -- Living readers take care of dead ones (keeper.bury_readers).
    is_new := reader.until <= moment;
  ELSE
    SELECT d.known, d.left_after INTO old, left_after FROM keeper.discovery d WHERE d.queue = q;
    SELECT EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid >= pg_snapshot_xmax(old))
        OR EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old))))
        OR left_after IS NOT NULL
        OR EXISTS (SELECT FROM keeper.bundle b WHERE b.queue::bigint = q AND b.xid >= pg_snapshot_xmax(old))
        OR EXISTS (SELECT FROM keeper.bundle b WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old))))
        OR EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q)
      INTO is_new;
  END IF;

  IF wanted > 0 THEN
    last_seq := (SELECT s.last_value + 63 FROM keeper.message_seq s);
    FOR part IN 1 .. CASE WHEN from_place > 0 THEN 2 ELSE 1 END LOOP
      -- lane_ready. The session that has waited longest comes first; rows that another transaction has locked are skipped.
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
    -- Another process may become a reader at this moment.
    is_new := NOT EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > moment);
  END IF;
  IF is_new THEN
    DELETE FROM keeper.reader r WHERE r.queue = q;
    has_taken_over := FOUND;
    IF has_taken_over THEN
      DELETE FROM keeper.reading x WHERE x.queue = q;
      PERFORM keeper.fold_notes(q, NULL);
    END IF;
  END IF;
  IF is_new THEN
    -- Locked first and read in a later statement, so its snapshot is younger than every stored one.
    SELECT d.known, d.left_after INTO old, left_after FROM keeper.discovery d WHERE d.queue = q;
    -- The rest of a backlog comes before newer messages.
    seen := CASE WHEN left_after IS NULL THEN pg_current_snapshot() ELSE old END;
    IF has_taken_over THEN
      -- All messages that the dead consumer may have read. Sessions that it held for longer than a second have rows, whose
      -- attempts count. The other messages count no attempt, because most were not delivered. But they get rows now, so a
      -- message that kills its process is counted from the second time on: the snapshot below sees it, and relieve_lanes
      -- keeps the row.
      most_untied := 70000;
    END IF;
    -- In the order of sequence numbers, which is the order of sends that did not overlap.
    SELECT array_agg(p.first_seq ORDER BY p.first_seq) FILTER (WHERE p.n < most_untied + 64),
           bool_or(p.n >= most_untied + 64)
      INTO untied, are_bundles_left
      FROM (SELECT b.first_seq, sum(b.open) OVER (ORDER BY b.first_seq) AS n
              FROM keeper.undiscovered(q, old, left_after) b
             WHERE pg_visible_in_snapshot(b.xid, seen)) p;
    are_bundles_left := COALESCE(are_bundles_left, false);
    -- message_new. Between two snapshots, exactly those transactions become visible that are not below the old xmax or were
    -- running then. So no message is skipped, however late it commits, and none is read twice. (Only replayed messages are
    -- rows here: sends store batches.)
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
       SET known = seen, left_after = CASE WHEN are_bundles_left THEN untied[cardinality(untied)] END, node = at_node
     WHERE d.queue = q;
    is_late := EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q);
    IF is_late THEN
      existing := keeper.place_late_sessions(q, -1, -1);
    END IF;
    IF cardinality(fresh) > 0 THEN
      -- Key share: it conflicts only with deletions of rows, which search for messages after they have the lock. A row that
      -- may be in deletion is not waited for, because discovery is locked: a later poll reads such sessions.
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
        -- Another transaction created the row meanwhile: the next poll sees it.
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

  -- A statement of its own, which must see the deletions of earlier owners. look_lanes reads what does not fit into an
  -- answer under locks; such a session has a row without a message, with the flag set.
  RETURN QUERY
    SELECT 1::smallint, r.session, r.epoch, moment + lease, r.owner, CASE WHEN r.fits THEN r.seq END, r.attempts,
           r.form & 3::smallint, CASE WHEN r.fits THEN r.expires_at <= moment AND NOT keeper.is_frozen(q, r.session) ELSE true END, r.enqueued_at, r.due_at,
           r.not_before, r.ttl_us, r.message_id, r.content_type,
           CASE WHEN NOT r.fits THEN NULL WHEN r.form < 4 THEN r.body ELSE keeper.shared_body(r.body) END,
           CASE WHEN r.fits THEN r.properties END, r.replays
      FROM (SELECT w.*, w.n IS NULL OR w.upto <= keeper.most_with_locks() AS fits
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
    -- A crash loses nothing that was promised: lost messages are discovered again, so the commit need not wait for the disk.
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

-- Returns the next messages of held sessions. Messages up to "reached" count as open deliveries if the lease expires.
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
  -- A crash may lose this update: an attempt of a message that was open just then is not counted. The commit need not wait
  -- for the disk.
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
      FROM (SELECT w.*, w.n IS NULL OR w.upto <= keeper.most_with_locks() AS fits
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

-- Returns messages of held sessions that were too many for claim_lanes or fetch_lanes, behind those already returned. Takes
-- no lock and writes nothing, so the client may take its time. Each session gets its first message while these fit into the
-- bytes, and further ones while they fit into its share; the first session gets one in any case.
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

-- Locks one session by name. outcome: held (by this caller now), none, locked, aside.
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
    -- The owner settles in a long transaction, and keeps the session until its end.
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

-- Records that no message was received since the claim, so the prefetched messages are not open deliveries.
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

-- Renews leases. Returns the new end of each lease that is still held, and no end for a session whose owner is settling in a
-- transaction: no renewal waits for another session's commit.
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
-- Settles deliveries and releases sessions.

-- Deletes completed messages, except those of some sessions (NULL: none), and counts them. The caller prevents concurrent
-- changes of them.
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

-- Completes messages of batches, by one mask of bits each, and counts them. Incomplete batches (firsts) get a completion
-- record; complete ones (complete) are deleted, with masks of zero if no bit was left before. Batches with messages of other
-- readers (shared_firsts) get their bits set, because none of these knows when the batch is complete. Only the reader calls
-- this.
DROP FUNCTION IF EXISTS keeper.complete_bundled(int, bigint[], bigint[], boolean, bigint);
DROP FUNCTION IF EXISTS keeper.complete_bundled(int, bigint, bigint[], bigint[], bigint[], bigint[], boolean, bigint);
CREATE OR REPLACE FUNCTION keeper.complete_bundled(q int, of_reader bigint, of_note bigint, firsts bigint[], masks bigint[],
  complete bigint[], complete_masks bigint[], shared_firsts bigint[], shared_masks bigint[], lenient boolean, of_shard bigint)
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
    -- An earlier call without an answer may have completed some of them.
    SELECT COALESCE(sum(bit_count((u.mask & ~(b.done | COALESCE(n.mask, 0)))::bit(64))), 0) INTO completed
      FROM (SELECT * FROM unnest(firsts, masks) UNION ALL SELECT * FROM unnest(complete, complete_masks)
            UNION ALL SELECT * FROM unnest(shared_firsts, shared_masks)) u(first, mask)
           CROSS JOIN LATERAL (SELECT x.done FROM keeper.bundle x WHERE x.queue = q AND x.first_seq = u.first OFFSET 0) b
           LEFT JOIN (SELECT * FROM keeper.noted x WHERE x.queue = q OFFSET 0) n ON n.first = u.first;
  ELSE
    SELECT COALESCE(sum(bit_count(u.mask::bit(64))), 0) INTO completed FROM unnest(masks || complete_masks || shared_masks) u(mask);
  END IF;
  IF cardinality(firsts) > 0 THEN
    INSERT INTO keeper.completion (queue, epoch, note, firsts, masks) VALUES (q, of_reader, of_note, firsts, masks)
    ON CONFLICT DO NOTHING;
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
  IF cardinality(shared_firsts) > 0 THEN
    -- Other transactions lock these rows in the same order.
    PERFORM 1 FROM (SELECT f.first FROM unnest(shared_firsts) f(first) ORDER BY f.first) f
       CROSS JOIN LATERAL (SELECT FROM keeper.bundle x WHERE x.queue = q AND x.first_seq = f.first OFFSET 0 FOR UPDATE) b;
    GET DIAGNOSTICS gone_now = ROW_COUNT;
    IF gone_now < cardinality(shared_firsts) AND NOT lenient THEN
      RAISE EXCEPTION 'a settled message is gone' USING ERRCODE = 'SK001';
    END IF;
    PERFORM keeper.tick_off(q, f.first, f.mask) FROM unnest(shared_firsts, shared_masks) f(first, mask);
  END IF;
  IF completed > 0 THEN
    UPDATE keeper.tally t SET gone = t.gone + completed WHERE t.queue = q AND t.shard = of_shard;
    IF NOT FOUND THEN
      PERFORM keeper.add_to_tally(q, of_shard, 0, completed, 0);
    END IF;
  END IF;
END $$;

-- The common case for many sessions at once: completions and releases. kept, freed: sessions that stay held or are released,
-- with their epochs; done: completed messages. Returns the sessions whose lease is lost; nothing was changed for these. Rows
-- are locked in the order of the sessions, so transactions cannot deadlock. If a row is locked for a second, the call fails
-- as a whole and the caller settles each session alone. A lenient call is a repetition: missing messages were completed by
-- the first call.
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
  -- The fence. No key update, so discovery, which takes key shares, never waits.
  IF cardinality(kept) > 0 THEN
    SELECT array_agg(f.session), COALESCE(bool_or(l.frozen_since IS NOT NULL), false) INTO keeping, is_frozen
      FROM unnest(kept, kept_epochs) f(session, epoch)
           CROSS JOIN LATERAL (SELECT x.epoch, x.status, x.until, x.frozen_since FROM keeper.lane x
                                WHERE x.queue = q AND x.session = f.session OFFSET 0 FOR NO KEY UPDATE) l
     WHERE l.epoch = f.epoch AND l.status = 1 AND l.until > moment;
  END IF;
  -- A row that may be deleted is locked against discovery too; a later statement then searches for messages.
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
    -- Last, because the rows were found by their ctids above. The first message of such a session has left.
    PERFORM keeper.thaw_lane(q, d.session)
       FROM (SELECT DISTINCT u.session FROM unnest(done_sessions) u(session)
              WHERE (u.session IN (SELECT unnest(lost))) IS NOT TRUE) d;
  END IF;
END $$;

-- One call of one session, with every kind of settlement and a state. acts: 0 complete, 1 retry, 2 dead-letter, 3 park, 4
-- expired, 5 postpone (a retry that counts no attempt). shared: whether the row lists the open deliveries, because several
-- processes use the lease. outcome: ok (detail: the new version of the state), lost, order (detail: the open message, or
-- none), stale (detail: the present version).
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

  -- Deliveries behind a retried or parked message are void (S-04).
  IF cardinality(seqs) > 0 AND acts[cardinality(seqs)] IN (1, 3, 5) THEN
    UPDATE keeper.lane l SET reached = 0, handed = CASE WHEN l.handed IS NOT NULL THEN '{}'::bigint[] END
     WHERE l.queue = q AND l.session = of_session;
  ELSIF lane.handed IS NOT NULL THEN
    UPDATE keeper.lane l SET handed = lane.handed[cardinality(seqs) + 1 :]
     WHERE l.queue = q AND l.session = of_session;
  END IF;
  outcome := 'ok';
END $$;

-- Counts the failed attempts of many calls with one statement. A call qualifies if it retries a single message that has attempts left.
-- The caller has locked the lanes in an earlier statement. Returns for each call whether it was handled; other calls change nothing here.
CREATE OR REPLACE FUNCTION keeper.retry_heads(q int, sessions text[], epochs bigint[], shareds boolean[], sizes int[], seqs bigint[],
  acts smallint[], delays_us bigint[], limits boolean[], reasons text[], states bytea[])
RETURNS boolean[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  most int := (SELECT k.max_delivery_count FROM keeper.queue k WHERE k.id = q);
  done boolean[] := array_fill(false, ARRAY[cardinality(sessions)]);
  calls int[];
  lanes tid[];
  one int;
BEGIN
  WITH plain AS MATERIALIZED (
         SELECT c.n, c.delay_us, c.reason, l.place_of AS lane_at, m.place_of AS message_at
           FROM (SELECT s.n, s.session, s.epoch, seqs[s.upto] AS seq, delays_us[s.upto] AS delay_us, limits[s.upto] AS is_limited,
                        reasons[s.upto] AS reason
                   FROM (SELECT u.n::int AS n, u.session, u.epoch, u.is_shared, u.size,
                                (sum(u.size) OVER (ORDER BY u.n))::int AS upto
                           FROM unnest(sessions, epochs, shareds, sizes) WITH ORDINALITY u(session, epoch, is_shared, size, n)) s
                  WHERE s.size = 1 AND NOT s.is_shared AND acts[s.upto] = 1 AND states[s.n] IS NULL) c
                CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.epoch, x.status, x.until, x.handed FROM keeper.lane x
                                     WHERE x.queue = q AND x.session = c.session OFFSET 0) l
                CROSS JOIN LATERAL (SELECT y.ctid AS place_of, y.attempts FROM keeper.message y
                                     WHERE y.queue = q AND y.session = c.session AND y.seq = c.seq OFFSET 0) m
          WHERE l.epoch = c.epoch AND l.status = 1 AND l.until > moment AND l.handed IS NULL
            AND (NOT c.is_limited OR m.attempts + 1 < most)),
       tried AS (
         UPDATE keeper.message m
            SET attempts = m.attempts + 1, last_error = p.reason, failed_at = moment, due_at = moment + keeper.micros(p.delay_us)
           FROM plain p WHERE m.ctid = p.message_at
         RETURNING p.n, p.lane_at)
  SELECT array_agg(t.n), array_agg(t.lane_at) INTO calls, lanes FROM tried t;
  IF cardinality(calls) > 0 THEN
    -- Deliveries behind a retried or parked message are void (S-04).
    UPDATE keeper.lane l SET reached = 0 WHERE l.ctid = ANY (lanes);
    FOREACH one IN ARRAY calls LOOP
      done[one] := true;
    END LOOP;
  END IF;
  RETURN done;
END $$;

-- Runs such calls of several sessions in one commit. Sessions come in order, each once; sizes: how many settlements belong
-- to each. Each call has its own outcome, and a call that is not ok has changed nothing.
CREATE OR REPLACE FUNCTION keeper.settle_each(q int, sessions text[], epochs bigint[], shareds boolean[], sizes int[], seqs bigint[],
  acts smallint[], delays_us bigint[], limits boolean[], reasons text[], errors text[], states bytea[], versions bigint[], of_shard bigint)
RETURNS TABLE (outcome text, detail bigint, at_seq bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET lock_timeout = '1s'
AS $$
DECLARE
  upto int := 0;
  are_retried boolean[];
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- All session rows before the first count: a transaction that has one of these rows and waits for the count would
  -- otherwise deadlock.
  PERFORM 1 FROM unnest(sessions) s(session)
     CROSS JOIN LATERAL (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = s.session OFFSET 0 FOR UPDATE) x;
  are_retried := keeper.retry_heads(q, sessions, epochs, shareds, sizes, seqs, acts, delays_us, limits, reasons, states);
  FOR i IN 1 .. cardinality(sessions) LOOP
    upto := upto + sizes[i];
    IF are_retried[i] THEN
      outcome := 'ok';
      detail := NULL;
      at_seq := NULL;
      RETURN NEXT;
    ELSE
      RETURN QUERY
        SELECT * FROM keeper.settle_session(q, sessions[i], epochs[i], shareds[i], seqs[upto - sizes[i] + 1 : upto],
          acts[upto - sizes[i] + 1 : upto], delays_us[upto - sizes[i] + 1 : upto], limits[upto - sizes[i] + 1 : upto],
          reasons[upto - sizes[i] + 1 : upto], errors[upto - sizes[i] + 1 : upto], states[i], versions[i], of_shard);
    END IF;
  END LOOP;
END $$;

-- Writes a session's state. The caller has locked the row and compared the versions.
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

-- Returns one message of a held session.
CREATE OR REPLACE FUNCTION keeper.as_handed(next keeper.message, lane keeper.lane) RETURNS keeper.handed
LANGUAGE sql STABLE AS $$
  SELECT (1::smallint, next.session, lane.epoch, lane.until, lane.owner, next.seq, next.attempts, next.form & 3::smallint, false,
          next.enqueued_at, next.due_at, next.not_before, next.ttl_us, next.message_id, next.content_type,
          CASE WHEN next.form < 4 THEN next.body ELSE keeper.shared_body(next.body) END,
          next.properties, next.replays)::keeper.handed
$$;

-- Delivers messages under a lease that several processes use: the row lists the open deliveries. A handle without memory
-- begins again at the first open one.
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
-- Operators' acts on sessions, and replays of dead letters.

-- act: pause, resume, park, release, deadLetterHead, deadLetterAll. asked_of: the epoch of the reader that has persisted the
-- session for this act, or zero if the queue has none. Returns -1 if that has changed: the caller sends its request again.
-- Returns -2 if the session's row is locked: the caller rolls back and tries again.
DROP FUNCTION IF EXISTS keeper.act_on_session(int, text, text, text, bigint);
CREATE OR REPLACE FUNCTION keeper.act_on_session(q int, of_session text, act text, why text, asked_of bigint, of_shard bigint)
RETURNS int
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
  -- A caller that freezes before its commit must not keep the locks for long.
  PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
  IF asked_of > 0 THEN
    -- Only the reader creates rows, and it has created this one; nothing else of the queue is locked.
    IF NOT EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.epoch = asked_of AND r.until > clock_timestamp()) THEN
      RETURN -1;
    END IF;
  ELSE
    -- The queue has no reader, and no process may become one.
    PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
    IF EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp()) THEN
      RETURN -1;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = of_session) THEN
    PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN -2;
    END IF;
  END IF;
  IF asked_of = 0 THEN
    PERFORM keeper.untie_session(q, of_session);
  END IF;
  IF target IS NOT NULL AND asked_of = 0 THEN
    INSERT INTO keeper.lane (queue, session, status, place)
    VALUES (q, of_session, 0, nextval('keeper.message_seq')) ON CONFLICT DO NOTHING;
  END IF;
  SELECT * INTO lane FROM keeper.lane l WHERE l.queue = q AND l.session = of_session FOR UPDATE;
  IF NOT FOUND THEN
    RETURN CASE WHEN target IS NOT NULL THEN -1 ELSE 0 END;
  END IF;
  IF lane.status = 1 AND lane.until <= clock_timestamp() THEN
    -- An expired lease ends first, so that its attempt counts, whatever follows.
    PERFORM keeper.end_lease(q, of_session, of_shard);
    UPDATE keeper.lane l SET status = 0, reached = 0, handed = NULL WHERE l.queue = q AND l.session = of_session
    RETURNING * INTO lane;
  END IF;
  was_held := lane.status = 1;

  CASE act
    WHEN 'PAUSE', 'PARK' THEN
      -- A parked session stays parked when it is paused.
      IF lane.aside IS NULL OR (lane.aside <> target AND lane.aside <> 3) THEN
        UPDATE keeper.lane l
           SET aside = target, reason = why, since = clock_timestamp(),
               frozen_since = COALESCE(l.frozen_since, clock_timestamp())
         WHERE l.queue = q AND l.session = of_session;
        changed := 1;
      END IF;
    WHEN 'RESUME' THEN
      -- A waiting head becomes due as well.
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
        -- Only the first open delivery was an attempt; those behind it were not.
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

-- Replays these dead letters under their old numbers, so that they come before newer messages of their session (D-02).
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
    -- A reader that has cached newer messages of these sessions must put the replayed ones first.
    INSERT INTO keeper.ask (queue, session, needs_lane)
    SELECT q, t.session, false FROM unnest(touched) t(session)
     WHERE EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp());
    -- A session whose head waits may have a new head now. Discovery creates missing rows.
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
-- Stores messages in the order of the arrays, for single sends, batches of sends, and sends in an application's transaction.
-- Touches no row that a consumer touches.

-- sessions: NULL for an unordered queue. keys: the keys of the ids, different within one call; NULL if the ids are UUIDs and
-- their own keys. forms, types: one element stands for all. props, ttls, not_befores: NULL if no message has any. sizes: the
-- number of messages of each batch, at most 64 (one with a shared payload is alone); weights: their bytes. buckets: the
-- buckets of each batch; NULL for any. are_unused: the sender created all ids and uses them for the first time. times: when
-- ids that begin with their time were created, in units of about a second; NULL if no lock is needed. span: from the first
-- to the last millisecond. low_key, high_key: the least and the greatest key. Returns one row with the first number of each
-- batch, from which the others follow. If ids are known already, nothing is stored, and the row has their keys and the
-- numbers of the first messages. Returns no row if the messages cannot be stored as unused ones now. How ids are recognised
-- (Q-03): each id has a row in "duplicate", whose key is unique. Unused ids are stored in "sent" instead, one row per batch.
-- Another sender may use such an id at the same time, if it was given the id. A transaction that writes to "sent" has a
-- shared lock (1) on the times of its ids until it commits. A transaction that writes an id with a time to "duplicate", and
-- is not its first user, has a lock (2). The first kind makes sure that no transaction has (2) and looks into "duplicate";
-- otherwise it gives up and acts like the second kind. The second kind takes (2) first, waits for all holders of (1), and
-- looks into "sent". So of two transactions with one id, one sees the other. A transaction waits at most for a commit of
-- unused ids, which is never an application's own transaction.
CREATE OR REPLACE FUNCTION keeper.time_lock(q int, made_at bigint, kind bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashint8extended((q::bigint << 40) # made_at, kind) $$;

DROP FUNCTION IF EXISTS keeper.send(int, text[], text[], uuid[], smallint[], text[], bytea[], text[], bigint[],
                                    timestamptz[], bigint);
DROP FUNCTION IF EXISTS keeper.send(int, text[], text[], uuid[], smallint[], text[], bytea[], text[], bigint[],
                                    timestamptz[], int[], bigint[], boolean, bigint[], int8range, uuid, uuid, bigint);
CREATE OR REPLACE FUNCTION keeper.send(q int, sessions text[], ids text[], keys uuid[], forms smallint[], types text[],
  bodies bytea[], props text[], ttls bigint[], not_befores timestamptz[], sizes int[], weights bigint[], buckets bigint[],
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
    -- A batch that is too large must not be stored, because no consumer could read it.
    PERFORM moment + keeper.micros(t.longest) FROM (SELECT max(u) FROM unnest(ttls) u) t(longest);
  END IF;
  IF remembered > interval '0' AND are_unused THEN
    SELECT bool_and(pg_try_advisory_xact_lock_shared(keeper.time_lock(q, t.made_at, 1))
                    AND pg_try_advisory_lock(keeper.time_lock(q, t.made_at, 2))
                    AND pg_advisory_unlock(keeper.time_lock(q, t.made_at, 2)))
      INTO are_unused FROM unnest(times) t(made_at);
    -- A statement of its own, so that it sees the commits of earlier holders of the lock.
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
    -- At other levels, "sent" is visible as of the beginning of the transaction, and a known id would be stored twice. Ids
    -- with rows of their own, and ids used for the first time, are recognised at every level.
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
    -- An id in an application's open transaction must not delay other messages: the call fails, and the caller sends each
    -- alone.
    PERFORM set_config('lock_timeout', '100ms', true);
  END IF;
  WHILE remembered > interval '0' LOOP
    -- In the order of the keys, so that two senders of the same ids cannot deadlock. Known ids are rare, and a check before
    -- the insert would cost as much again as the insert.
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
        -- Stored by a transaction that this one cannot see.
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
                               forms, types, bodies, props, ttls, not_befores, buckets)
    VALUES (q, firsts[1], firsts[1] + sizes[1] - 1, -1::bigint # ((-2::bigint) << (sizes[1] - 1)), weights[1], moment,
            moment + keeper.micros(ttl), CASE WHEN forms[1] >= 4 THEN encode(bodies[1], 'hex')::uuid END, sessions, ids,
            forms, types, bodies, props, ttls, not_befores, COALESCE(send.buckets[1], -1));
  ELSE
    INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, shared, sessions, ids,
                               forms, types, bodies, props, ttls, not_befores, buckets)
    SELECT q, b.first, b.first + b.size - 1, -1::bigint # ((-2::bigint) << (b.size - 1)), b.weight, moment,
           moment + keeper.micros(ttl),
           CASE WHEN COALESCE(forms[b.upto], forms[1]) >= 4 THEN encode(bodies[b.upto], 'hex')::uuid END,
           sessions[b.upto - b.size + 1 : b.upto], ids[b.upto - b.size + 1 : b.upto],
           CASE cardinality(forms) WHEN 1 THEN forms ELSE forms[b.upto - b.size + 1 : b.upto] END,
           CASE cardinality(types) WHEN 1 THEN types ELSE types[b.upto - b.size + 1 : b.upto] END,
           bodies[b.upto - b.size + 1 : b.upto], props[b.upto - b.size + 1 : b.upto], ttls[b.upto - b.size + 1 : b.upto],
           not_befores[b.upto - b.size + 1 : b.upto], COALESCE(b.buckets, -1)
      FROM (SELECT u.first, u.size, u.weight, u.buckets, (sum(u.size) OVER (ORDER BY u.n))::int AS upto
              FROM unnest(firsts, sizes, weights, send.buckets) WITH ORDINALITY u(first, size, weight, buckets, n)) b;
  END IF;
  -- The common case of add_to_tally, without the cost of a call.
  UPDATE keeper.tally t SET arrived = t.arrived + cardinality(ids) WHERE t.queue = q AND t.shard = of_shard;
  IF NOT FOUND THEN
    PERFORM keeper.add_to_tally(q, of_shard, cardinality(ids), 0, 0);
  END IF;
END $$;

-- queues/R__6_loose.sql
-- Messages of unordered queues: each is locked on its own.

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

-- Handles a failed attempt: the message returns to its place by age, waits, or follows the poison policy.
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

-- Ends expired locks, and dead-letters expired messages. Returns when to look next.
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

-- Locks the oldest free messages, until payloads and properties exceed most_bytes. The loop locks a row only when it reaches
-- the row, so messages that do not fit stay free for other receivers.
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

-- Completes messages. Returns those whose lock is lost.
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

-- Applies any other settlement to one message. Returns false if the lock is lost.
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
-- Housekeeping. Returns true if more can be done at once.
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
    -- By age: the oldest rows come first in this index, so reading its beginning suffices.
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
  END LOOP;

  -- Rows of processes that are gone, or whose reading has ended.
  DELETE FROM keeper.ask a WHERE a.asked_at < moment - interval '2 minutes';

  -- Failures of messages that have left their batches.
  DELETE FROM keeper.failed_head f
   WHERE f.ctid = ANY (ARRAY(
     SELECT x.ctid FROM keeper.failed_head x
      WHERE x.failed_at < moment - interval '10 seconds'
        AND NOT EXISTS (SELECT FROM keeper.bundle b
                         WHERE b.queue = x.queue AND b.first_seq > x.seq - 64 AND b.first_seq <= x.seq AND b.last_seq >= x.seq)
      LIMIT 5000 FOR UPDATE SKIP LOCKED));

  -- An empty state of a session that has nothing else.
  DELETE FROM keeper.session_state s
   WHERE s.bytes = ''::bytea AND s.updated_at < moment - interval '1 hour'
     AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = s.queue AND l.session = s.session);

  -- Merges counts of processes and of applications' transactions into one row. Last: a process that adds to one of them
  -- waits for this transaction, and creates a new row then.
  FOR of_queue IN SELECT k.id FROM keeper.queue k LOOP
    WITH folded AS (
      DELETE FROM keeper.tally t
       WHERE t.ctid = ANY (ARRAY(SELECT x.ctid FROM keeper.tally x WHERE x.queue = of_queue.id AND x.shard <> 0
                                  LIMIT 10000 FOR UPDATE SKIP LOCKED))
      RETURNING t.*)
    INSERT INTO keeper.tally AS t (queue, shard, arrived, gone, dead)
    SELECT of_queue.id, 0, sum(f.arrived), sum(f.gone), sum(f.dead) FROM folded f HAVING count(*) > 0
    ON CONFLICT (queue, shard) DO UPDATE
       SET arrived = t.arrived + excluded.arrived, gone = t.gone + excluded.gone, dead = t.dead + excluded.dead;
  END LOOP;
  RETURN forgotten = 5000 OR forgotten_together = 5000 OR buried >= 500;
END $$;

-- queues/R__8_carry.sql
-- Readers: processes that read a queue, or buckets of its sessions, with payloads, and deliver from memory. Only sessions
-- with something unusual get rows. A bucket has at most one reader, and only that one creates rows for its sessions. The
-- fence: every statement that writes for a reader finds its row in "reader", with its epoch and a lease that has not
-- expired, and its row in "reading". A crash of the database, or the promotion of a standby, empties "reading". Some
-- transactions are lost then, and later ones get their numbers and the numbers of their messages. The consumer's memory may
-- be about the lost ones, so it writes none of it.

-- Returns how long the lease of a reader lasts: after its death sessions wait that long, and not for a long lock duration.
CREATE OR REPLACE FUNCTION keeper.reader_lease_us(q int) RETURNS bigint
LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$ SELECT LEAST(k.lock_us, 10000000) FROM keeper.queue k WHERE k.id = q $$;

-- Returns the buckets that a reader should have: living ones share all buckets, in the order of their processes. others: the
-- buckets that other ones have now, including dead ones.
CREATE OR REPLACE FUNCTION keeper.share_of(q int, my_epoch bigint, OUT target bigint, OUT others bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  SELECT CASE WHEN s.readers = 1 THEN -1
              WHEN s.upto = s.begins THEN 0
              ELSE ((1::bigint << (s.upto - s.begins)) - 1) << s.begins END
    INTO target
    FROM (SELECT r.epoch, count(*) OVER () AS readers,
                 (64 * (row_number() OVER w - 1) / count(*) OVER ())::int AS begins,
                 (64 * row_number() OVER w / count(*) OVER ())::int AS upto
            FROM keeper.reader r
           WHERE r.queue = q AND (r.until > clock_timestamp() OR r.epoch = my_epoch)
          WINDOW w AS (ORDER BY r.node COLLATE "C", r.epoch)) s
   WHERE s.epoch = my_epoch;
  SELECT COALESCE(bit_or(r.owns), 0) INTO others FROM keeper.reader r WHERE r.queue = q AND r.epoch <> my_epoch;
END $$;

-- Makes a process a reader of the free buckets that it should have. The caller has locked discovery.
CREATE OR REPLACE FUNCTION keeper.add_reader(q int, at_node text, OUT my_epoch bigint, OUT my_buckets bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  INSERT INTO keeper.reader (queue, epoch, node, until, beat_at, begun_at, owns)
  -- The sequence may have gone back with a promoted standby that lost its last numbers; the random part distinguishes two
  -- readers then.
  VALUES (q, nextval('keeper.epoch_seq') + floor(random() * 4096)::bigint, at_node,
          moment + keeper.micros(keeper.reader_lease_us(q)), moment, moment, 0)
  RETURNING epoch INTO my_epoch;
  INSERT INTO keeper.reading VALUES (q, my_epoch);
  SELECT s.target & ~s.others INTO my_buckets FROM keeper.share_of(q, my_epoch) s;
  UPDATE keeper.reader r SET owns = my_buckets WHERE r.queue = q AND r.epoch = my_epoch;
END $$;

-- Becomes a reader, unless there is one that it may not join, all were asked to stop lately, or fewer messages are new.
-- Every transaction that changes readers locks discovery first.
DROP FUNCTION IF EXISTS keeper.become_reader(int, text, int, bigint);
CREATE OR REPLACE FUNCTION keeper.become_reader(q int, at_node text, least_new int, alone_us bigint, joins boolean,
  OUT my_epoch bigint, OUT my_buckets bigint, OUT known_to text, OUT lease_us bigint)
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
  IF asked > moment - keeper.micros(alone_us)
     -- A reading of this process that it does not know of ends first; living readers or a poll end dead ones.
     OR EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND (r.node = at_node OR NOT joins))
     OR (EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q)
         AND NOT EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > moment)) THEN
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
  lease_us := keeper.reader_lease_us(q);
  IF lease_us < 1000000 THEN
    RETURN; -- So short a lease would be lost for a breath.
  END IF;
  SELECT a.my_epoch, a.my_buckets INTO my_epoch, my_buckets FROM keeper.add_reader(q, at_node) a;
  known_to := old;
END $$;

-- Returns what a reader must know of the others: the buckets that it should take and no other has (free), whether it must
-- stop, whether one is dead, and the buckets of each living one.
CREATE OR REPLACE FUNCTION keeper.look_at_readers(q int, my_epoch bigint, OUT free bigint, OUT must_stop boolean,
  OUT are_dead boolean, OUT masks bigint[])
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  SELECT s.target & ~s.others INTO free FROM keeper.share_of(q, my_epoch) s;
  SELECT bool_or(r.until <= clock_timestamp()),
         array_agg(r.owns) FILTER (WHERE r.until > clock_timestamp() AND r.owns <> 0),
         bool_or(r.epoch = my_epoch AND r.begun_at <= d.asked_at)
    INTO are_dead, masks, must_stop
    FROM keeper.reader r JOIN keeper.discovery d ON d.queue = r.queue
   WHERE r.queue = q;
END $$;

-- The same, for processes that only send.
CREATE OR REPLACE FUNCTION keeper.parts_of_readers(q int) RETURNS bigint[]
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  RETURN (SELECT array_agg(r.owns) FROM keeper.reader r
           WHERE r.queue = q AND r.until > clock_timestamp() AND r.owns <> 0);
END $$;

-- Ends readers whose lease has expired, while others live. Sessions of all messages that they may have read get rows.
-- Sessions that were held for longer than a second have rows already, whose attempts count; the others count no attempt.
-- These rows are marked as known from the beginning (with the first transaction id), so no process caches them again, and a
-- message that kills its process is counted from the second time on.
CREATE OR REPLACE FUNCTION keeper.bury_readers(q int, of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  dead keeper.reader;
  at_first pg_snapshot;
  untied bigint[];
  rows_of text[];
  rows_at bigint[];
  fresh text[];
  firsts bigint[];
  shared text[];
  busy text[];
  one text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  IF NOT keeper.lock_discovery(q, false) THEN
    RETURN;
  END IF;
  SELECT d.known INTO at_first FROM keeper.discovery d WHERE d.queue = q;
  FOR dead IN SELECT * FROM keeper.reader r WHERE r.queue = q AND r.until <= moment LOOP
    DELETE FROM keeper.reader r WHERE r.queue = q AND r.epoch = dead.epoch;
    DELETE FROM keeper.reading x WHERE x.queue = q AND x.epoch = dead.epoch;
    PERFORM keeper.fold_notes(q, dead.epoch);
    CONTINUE WHEN dead.owns = 0;
    SELECT array_agg(p.first_seq ORDER BY p.first_seq) FILTER (WHERE p.n < 70064) INTO untied
      FROM (SELECT b.first_seq, sum(bit_count((b.members & ~b.done)::bit(64))) OVER (ORDER BY b.first_seq) AS n
              FROM keeper.bundle b WHERE b.queue = q AND b.first_seq > 0 AND b.buckets & dead.owns <> 0) p;
    CONTINUE WHEN untied IS NULL AND NOT EXISTS (SELECT FROM keeper.message m WHERE m.queue + 0 = q AND m.seq > 0);
    SELECT array_agg(u.of_session), array_agg(u.of_seq) INTO rows_of, rows_at
      FROM keeper.untie(q, untied, ARRAY(
             SELECT DISTINCT s.session COLLATE "C"
               FROM unnest(untied) f(first)
                    CROSS JOIN LATERAL (SELECT x.sessions FROM keeper.bundle x
                                         WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b
                    CROSS JOIN LATERAL unnest(b.sessions) s(session)
              WHERE keeper.is_of(s.session, dead.owns))) u;
    UPDATE keeper.message m SET xid = '3'
      FROM unnest(rows_of, rows_at) u(session, seq)
     WHERE m.queue = q AND m.session = u.session AND m.seq = u.seq;
    -- Messages that it had cached as rows.
    UPDATE keeper.message m SET xid = '3'
     WHERE m.queue + 0 = q AND m.seq > 0 AND NOT pg_visible_in_snapshot(m.xid, at_first) AND keeper.is_of(m.session, dead.owns)
       AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = m.session);
    SELECT array_agg(m.session ORDER BY m.first), array_agg(m.first ORDER BY m.first) INTO fresh, firsts
      FROM (SELECT x.session, min(x.seq) AS first FROM keeper.message x
             WHERE x.queue + 0 = q AND x.seq > 0 AND x.xid = '3' AND keeper.is_of(x.session, dead.owns)
             GROUP BY x.session) m;
    CONTINUE WHEN fresh IS NULL;
    SELECT s.shared, s.busy INTO shared, busy FROM keeper.share_lanes(q, fresh) s;
    PERFORM keeper.come_back_to(q, busy);
    INSERT INTO keeper.lane (queue, session, status, place)
    SELECT q, f.session, 0, f.first FROM unnest(fresh, firsts) f(session, first)
     WHERE f.session <> ALL (shared || busy) ORDER BY f.session
    ON CONFLICT DO NOTHING;
    FOR one IN SELECT m.session FROM keeper.message m
                WHERE m.queue + 0 = q AND m.seq > 0 AND m.xid = '3' AND m.due_at > moment AND m.session <> ALL (shared || busy)
                  AND keeper.is_of(m.session, dead.owns)
    LOOP
      PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = one AND l.status + 0 = 0 FOR UPDATE;
      IF FOUND THEN
        PERFORM keeper.place_lane(q, one, of_shard);
      END IF;
    END LOOP;
  END LOOP;
END $$;

-- A row that a reader reads. kind 4: a message, and when it expires (until). 6: a batch: its first number (seq), its completed
-- bits (epoch), when it expires (until), the database's time (due_at), its buckets (ttl_us). 5: the snapshot (node) and
-- number (seq) up to which was read, if that is not all. 2: a held session with news. 3: another process is the reader now.
-- 7: messages that read_found must read (batches in ttls, sessions with rows in sessions, sessions that lost their rows in
-- ids, the last number in seq, whether there are rows in is_expired, whether to find them by transaction in attempts). 0:
-- the summary: the database's time (until), a number for epochs, the place of the first ready row (seq), the last assigned
-- number (ttl_us), whether a row was locked (form).
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

-- Returns the next page between two snapshots: a number of messages or bytes, but at least one message. Returns its batches,
-- and its last number if that is not the end.
DROP FUNCTION IF EXISTS keeper.next_page(int, pg_snapshot, pg_snapshot, bigint, int, bigint, boolean);
CREATE OR REPLACE FUNCTION keeper.next_page(q int, mine bigint, old pg_snapshot, seen pg_snapshot, after_seq bigint, most int,
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
                AND keeper.is_of(m.session, mine)
              ORDER BY m.seq)
            UNION ALL
            (SELECT b.first_seq, b.last_seq, b.bytes, b.last_seq - b.first_seq + 1, true
               FROM keeper.bundle b
              WHERE b.queue = q AND b.first_seq > after_seq AND b.buckets & mine <> 0
                AND (is_first OR NOT pg_visible_in_snapshot(b.xid, old)) AND pg_visible_in_snapshot(b.xid, seen)
              ORDER BY b.first_seq)) x
     ORDER BY x.seq
  LOOP
    its_messages := its_messages + next.messages;
    its_bytes := its_bytes + next.bytes;
    -- A batch whose first message has become a row has the number of that row: the page does not end between them.
    IF next.seq > its_end AND (its_messages > most OR its_bytes > most_bytes) THEN
      upto := its_end;
      RETURN;
    END IF;
    its_end := next.last;
    IF next.is_bundle THEN
      bundles := bundles || next.seq;
    END IF;
  END LOOP;
END $$;

-- Deletes rows of sessions without an owner and without anything unusual; otherwise a busy queue would keep every row that
-- it once had. Returns their sessions, whose messages are returned like new ones. Rows are locked first and checked in a
-- later statement, as in place_lane. Rows stay if the snapshot of the beginning sees their messages: without the row no
-- process would find them after a crash.
DROP FUNCTION IF EXISTS keeper.relieve_lanes(int, bigint, pg_snapshot, timestamptz, int, bigint);
DROP FUNCTION IF EXISTS keeper.relieve_some_lanes(int, bigint, pg_snapshot, timestamptz, int, bigint);
CREATE OR REPLACE FUNCTION keeper.relieve_some_lanes(q int, my_epoch bigint, mine bigint, old pg_snapshot, moment timestamptz, most int,
  most_bytes bigint)
RETURNS text[]
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  ready text[];
  asked text[];
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
  -- Not the rows that were requested just now.
  asked := ARRAY(SELECT a.session FROM keeper.ask a
                  WHERE a.queue = q AND COALESCE(a.answered_at, a.asked_at) > moment - interval '2 seconds');
  -- Examines a bounded number of rows of other readers.
  ready := ARRAY(SELECT l.session FROM keeper.lane l
                  WHERE l.queue = q AND l.status + 0 = 0 AND l.aside IS NULL AND l.session = ANY (ARRAY(
                    SELECT x.session FROM (SELECT y.session FROM keeper.lane y WHERE y.queue::bigint = q AND y.status = 0
                                            ORDER BY y.place LIMIT CASE WHEN mine = -1 THEN 128 ELSE 512 END) x
                     WHERE keeper.is_of(x.session, mine) AND x.session <> ALL (asked) LIMIT 128))
                  ORDER BY l.place FOR UPDATE SKIP LOCKED);
  SELECT d.known INTO at_first FROM keeper.discovery d WHERE d.queue = q;
  ready := ARRAY(
    SELECT f.session
      FROM unnest(ready) WITH ORDINALITY f(session, n)
           CROSS JOIN LATERAL (SELECT x.xid, x.due_at FROM keeper.message x WHERE x.queue = q AND x.session = f.session
                                ORDER BY x.seq LIMIT 1) head
     WHERE head.due_at IS NULL AND NOT pg_visible_in_snapshot(head.xid, at_first)
       -- A dead letter might be replayed, and come before these messages (D-02).
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

-- Returns the owners of these sessions, if they are held, because there are new messages.
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

-- Estimates the bytes of an answer with these batches and the rows of these sessions.
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

-- Returns the messages that read_new has found, with payloads. Takes no lock and writes nothing. by_xid: rows are found by
-- their transactions, otherwise in line. except_of: sessions with rows. relieved: sessions that have just lost theirs.
DROP FUNCTION IF EXISTS keeper.read_found(int, pg_snapshot, pg_snapshot, bigint, bigint, bigint[], boolean, boolean, text[], text[], timestamptz);
CREATE OR REPLACE FUNCTION keeper.read_found(q int, mine bigint, old pg_snapshot, seen pg_snapshot, after_seq bigint, upto bigint,
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
           NULL::boolean, b.enqueued_at, moment, NULL::timestamptz, b.buckets,
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
       WHERE pg_visible_in_snapshot(m.xid, seen) AND keeper.is_of(m.session, mine)
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
         AND NOT pg_visible_in_snapshot(m.xid, old) AND pg_visible_in_snapshot(m.xid, seen) AND keeper.is_of(m.session, mine)
         AND (except_of IS NULL OR (m.session IN (SELECT unnest(except_of))) IS NOT TRUE)
       ORDER BY m.seq;
  END IF;
END $$;

-- Returns what became visible since the snapshot, in the order of numbers, up to a limit. Further calls read the rest, with
-- the snapshot up to which is read (goal) and the last number of the previous page. is_first: nothing was read yet; then
-- batches older than the snapshot count too, because an existing batch has not been unpacked. relieves: whether to cache
-- sessions again whose rows are no longer needed.
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, boolean, bigint, bigint);
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, bigint, text, bigint, int, bigint, boolean);
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, bigint, text, bigint, int, bigint, boolean, boolean);
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, bigint, text, bigint, int, bigint, boolean, boolean, boolean);
-- carried: NULL, or the sessions in memory, if the answer to a read that deleted rows was lost. Rows of other sessions
-- without a session row are then returned again, because no later read would find them.
CREATE OR REPLACE FUNCTION keeper.read_new(q int, my_epoch bigint, known_to text, known_seq bigint, goal text,
                                           after_seq bigint, most int, most_bytes bigint, is_first boolean,
                                           relieves boolean, carried text[])
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
  -- The buckets of this reader.
  mine bigint;
  -- Few enough to be read by their transactions; otherwise they are read in line.
  are_few boolean;
  upto bigint;
  bundles bigint[];
  -- Message rows: those that were replayed, and those of sessions with rows.
  are_rows boolean;
  are_lanes boolean;
  fresh text[];
  -- Sessions with rows, including busy ones.
  existing text[];
  shared text[];
  busy text[];
  relieved text[] := '{}';
  -- Whether this call has locked or written anything: then the answer is limited to what is sent at once.
  is_locked boolean := false;
  is_late boolean := false;
  said keeper.news;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  SELECT s.last_value, r.owns INTO last_seq, mine
    FROM keeper.reader r CROSS JOIN keeper.message_seq s
   WHERE r.queue = q AND r.epoch = my_epoch AND r.until > moment
     AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch);
  IF NOT FOUND THEN
    said.kind := 3;
    RETURN NEXT said;
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q AND keeper.is_of(s.session, mine)) THEN
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
    RETURN QUERY SELECT n.* FROM keeper.news_of_lanes(q, keeper.place_late_sessions(q, mine, -1)) n;
  END IF;
  are_few := goal IS NULL AND NOT is_first;
  IF are_few AND (last_seq - known_seq) / 64 > LEAST(most, 64) THEN
    -- The numbers may be those of other queues: then this queue is not scanned from its first number on. bundle_new
    are_few := (SELECT count(*)
                  FROM ((SELECT FROM keeper.bundle x WHERE x.queue::bigint = q AND x.xid >= pg_snapshot_xmax(old)
                          LIMIT LEAST(most, 64) + 1)
                        UNION ALL
                        (SELECT FROM keeper.bundle y
                          WHERE y.queue::bigint = q AND y.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))
                          LIMIT LEAST(most, 64) + 1)) b) <= LEAST(most, 64);
  END IF;
  IF are_few THEN
    -- bundle_new. Between two snapshots, exactly those transactions become visible that are not below the old xmax or were
    -- running then.
    SELECT ARRAY(
             SELECT b.first_seq
               FROM (SELECT x.first_seq, x.xid, x.buckets FROM keeper.bundle x
                      WHERE x.queue::bigint = q AND x.xid >= pg_snapshot_xmax(old)
                     UNION ALL
                     SELECT y.first_seq, y.xid, y.buckets FROM keeper.bundle y
                      WHERE y.queue::bigint = q AND y.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))) b
              WHERE pg_visible_in_snapshot(b.xid, seen) AND b.buckets & mine <> 0
              ORDER BY b.first_seq),
           EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid >= pg_snapshot_xmax(old))
           OR EXISTS (SELECT FROM keeper.message m WHERE m.queue::bigint = q AND m.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))),
           EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q)
      INTO bundles, are_rows, are_lanes;
    -- A transaction that drew its numbers long ago may add any number of messages of any size.
    are_few := cardinality(bundles) <= 64
           AND (SELECT COALESCE(sum(b.bytes), 0)
                  FROM unnest(bundles) f(first)
                       CROSS JOIN LATERAL (SELECT x.bytes FROM keeper.bundle x
                                            WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b) <= most_bytes;
  END IF;
  IF NOT are_few THEN
    SELECT p.upto, p.bundles INTO upto, bundles FROM keeper.next_page(q, mine, old, seen, after_seq, most, most_bytes, is_first) p;
    are_rows := true;
    are_lanes := EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q);
  END IF;

  IF relieves AND are_lanes AND goal IS NULL AND NOT is_first THEN
    relieved := keeper.relieve_some_lanes(q, my_epoch, mine, old, moment, most, most_bytes);
    is_locked := cardinality(relieved) > 0;
  END IF;
  IF carried IS NOT NULL AND goal IS NULL AND NOT is_first THEN
    -- message_line. Only after a broken connection, so it may scan all rows.
    relieved := relieved || ARRAY(
      SELECT DISTINCT m.session
        FROM keeper.message m
       WHERE m.queue + 0 = q AND m.seq > 0 AND pg_visible_in_snapshot(m.xid, old) AND keeper.is_of(m.session, mine)
         AND m.session <> ALL (carried) AND m.session <> ALL (relieved)
         AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q AND l.session = m.session));
  END IF;

  -- Only this reader creates rows. Messages of sessions with rows belong to the rows; that is decided first, as in
  -- claim_lanes, and messages are read later, so messages that a row took along at its deletion are not seen any more.
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
    -- Without waiting, as in claim_lanes. Rows of other readers are not locked: the answer may be long then.
    SELECT l.shared, l.busy INTO shared, busy
      FROM keeper.share_lanes(q, ARRAY(
             SELECT d.session
               FROM (SELECT DISTINCT s.session COLLATE "C" AS session
                       FROM (SELECT unnest(fresh) AS session
                             UNION ALL
                             SELECT unnest(b.sessions)
                               FROM unnest(bundles) f(first)
                                    CROSS JOIN LATERAL (SELECT x.sessions FROM keeper.bundle x
                                                         WHERE x.queue = q AND x.first_seq = f.first OFFSET 0) b) s) d
              WHERE mine = -1 OR keeper.is_of(d.session, mine)
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
    -- read_found reads these messages after the locks are released.
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
      SELECT * FROM keeper.read_found(q, mine, old, seen, after_seq, upto, bundles, are_rows, are_few, existing, relieved, moment);
  END IF;
  said := NULL;
  said.kind := 0;
  SELECT nextval('keeper.epoch_seq'),
         (SELECT l.place FROM keeper.lane l WHERE l.queue::bigint = q AND l.status = 0 ORDER BY l.place LIMIT 1)
    INTO said.epoch, said.seq;
  said.until := moment;
  said.ttl_us := last_seq;
  said.form := (is_late OR cardinality(busy) > 0)::int;
  RETURN NEXT said;
END $$;

-- Renews the lease of a reader, in a statement of its own, so that its lock is released before payloads are sent. Returns
-- false if the lease has ended.
CREATE OR REPLACE FUNCTION keeper.beat_reader(q int, my_epoch bigint) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE keeper.reader r
     SET beat_at = clock_timestamp(),
         until = clock_timestamp() + keeper.micros(keeper.reader_lease_us(q))
   WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp()
     AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch);
  RETURN FOUND;
END $$;

-- Completes messages of cached sessions: those in batches by their bits (keeper.complete_bundled), others by their numbers.
-- folds: batches with old completion records, and all of their bits. over_notes: obsolete completion records. Returns the
-- sessions that were persisted meanwhile; if there are any, nothing was changed.
DROP FUNCTION IF EXISTS keeper.settle_carried(int, bigint, text[], text[], bigint[], boolean, bigint);
DROP FUNCTION IF EXISTS keeper.settle_carried(int, bigint, text[], bigint[], bigint[], text[], bigint[], boolean, bigint);
DROP FUNCTION IF EXISTS keeper.settle_carried(int, bigint, text[], bigint, bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], bigint[], text[], bigint[], boolean, bigint);
CREATE OR REPLACE FUNCTION keeper.settle_carried(q int, my_epoch bigint, sessions text[], of_note bigint, firsts bigint[],
  masks bigint[], complete bigint[], complete_masks bigint[], shared_firsts bigint[], shared_masks bigint[], folds bigint[],
  fold_masks bigint[], over_notes bigint[], done_sessions text[], done_seqs bigint[], lenient boolean, of_shard bigint)
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
  PERFORM keeper.complete_bundled(q, my_epoch, of_note, firsts, masks, complete, complete_masks, shared_firsts, shared_masks,
                                  lenient, of_shard);
  IF cardinality(folds) > 0 THEN
    PERFORM keeper.tick_off(q, f.first, f.mask) FROM unnest(folds, fold_masks) f(first, mask);
  END IF;
  IF cardinality(over_notes) > 0 THEN
    DELETE FROM keeper.completion c WHERE c.queue = q AND c.epoch = my_epoch AND c.note = ANY (over_notes);
  END IF;
  IF cardinality(done_seqs) > 0 THEN
    PERFORM keeper.complete_messages(q, done_sessions, done_seqs, NULL, lenient, of_shard);
  END IF;
END $$;

-- The same, and counts failed attempts of the first messages of other cached sessions, whose readers hand them out again from
-- memory. retried: their sessions and numbers, with all attempts that have failed (tried). A repetition counts nothing twice.
-- needs_row: the session was not persisted, and its message has no attempt left, which only its row can say. If any session is
-- returned, nothing was changed.
CREATE OR REPLACE FUNCTION keeper.settle_retried(q int, my_epoch bigint, sessions text[], of_note bigint, firsts bigint[],
  masks bigint[], complete bigint[], complete_masks bigint[], shared_firsts bigint[], shared_masks bigint[], folds bigint[],
  fold_masks bigint[], over_notes bigint[], done_sessions text[], done_seqs bigint[], lenient boolean, of_shard bigint,
  retried text[], retried_seqs bigint[], tried int[], limits boolean[], reasons text[])
RETURNS TABLE (of_session text, needs_row boolean)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  most int := (SELECT k.max_delivery_count FROM keeper.queue k WHERE k.id = q);
BEGIN
  RETURN QUERY
    SELECT r.session, true FROM unnest(retried, tried, limits) r(session, tried, is_limited) WHERE r.is_limited AND r.tried >= most;
  IF FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT c.session, false
      FROM keeper.settle_carried(q, my_epoch, sessions, of_note, firsts, masks, complete, complete_masks, shared_firsts,
                                 shared_masks, folds, fold_masks, over_notes, done_sessions, done_seqs, lenient, of_shard) c(session);
  IF FOUND THEN
    RETURN;
  END IF;
  INSERT INTO keeper.failed_head AS f (queue, session, seq, attempts, failed_at, last_error)
  SELECT q, r.session, r.seq, r.tried, clock_timestamp(), r.reason
    FROM unnest(retried, retried_seqs, tried, reasons) r(session, seq, tried, reason)
   ORDER BY r.session
  ON CONFLICT (queue, session) DO UPDATE
     SET seq = excluded.seq, attempts = excluded.attempts, failed_at = excluded.failed_at, last_error = excluded.last_error;
END $$;

-- Persists cached sessions: held ones (epoch above zero) with the rest of their leases, others as ready. heads: their places
-- in the ready order, zero if the row must be placed again; for held ones, the last message that can be open. firsts:
-- batches with cached messages, of which those of these sessions are unpacked. ends: 1, the reading ends; 2, the process
-- continues with another share; then only held sessions get rows, and the next owner of the buckets reads the rest. asks:
-- the requests that this call answers, with their sessions (asked): each gets a row if any message of it is stored, read or
-- not, and in any case if the request demands it. given: sessions for processes that requested any. now_known: NULL or, at
-- the end of a reading of all buckets, the snapshot up to which every message was handled. Returns the ends of the leases,
-- the held sessions with more messages (and their processes), and one row without a session, with the next epoch and buckets
-- and the known snapshot. Returns nothing, and changes nothing, if the process is no reader any more.
DROP FUNCTION IF EXISTS keeper.write_down(int, bigint, text, text[], bigint[], text[], bigint[], bigint[], bigint[], text, bigint, bigint);
DROP FUNCTION IF EXISTS keeper.write_down(int, bigint, text, text[], bigint[], text[], bigint[], bigint[], bigint[], bigint[], text[], text, bigint, bigint);
DROP FUNCTION IF EXISTS keeper.write_down(int, bigint, text, text[], bigint[], text[], bigint[], bigint[], bigint[], bigint[], text[], text, bigint, bigint);
CREATE OR REPLACE FUNCTION keeper.write_down(q int, my_epoch bigint, at_node text, sessions text[], epochs bigint[],
  owners text[], lefts_us bigint[], heads bigint[], firsts bigint[], asks bigint[], asked text[], given text[], ends int,
  now_known text, of_shard bigint)
RETURNS TABLE (of_session text, held_until timestamptz, news_for text, of_epoch bigint, of_buckets bigint, known_to text)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  one text;
  others text[];
  other_heads bigint[];
  of_asked bigint[] := '{}';
  next_epoch bigint;
  next_buckets bigint;
  shared text[] := '{}';
  busy text[] := '{}';
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  IF cardinality(asked) > 0 THEN
    -- Before any lock, because a backlog may be long. Messages stored after this are younger than the requests.
    of_asked := ARRAY(SELECT b.first_seq FROM keeper.bundle b WHERE b.queue = q AND b.first_seq > 0 AND b.sessions && asked);
  END IF;
  IF ends > 0 THEN
    SELECT d.known::text INTO known_to FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  END IF;
  PERFORM 1 FROM keeper.reader r
    WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp()
      AND EXISTS (SELECT FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch)
      FOR UPDATE OF r;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  PERFORM keeper.fold_notes(q, my_epoch);
  -- All of them at once and in order, because other readers lock theirs too.
  PERFORM 1 FROM (SELECT f.first FROM unnest(firsts || of_asked) f(first) ORDER BY f.first) f
     CROSS JOIN LATERAL (SELECT FROM keeper.bundle x WHERE x.queue = q AND x.first_seq = f.first OFFSET 0 FOR UPDATE) b;
  IF cardinality(asked) > 0 THEN
    -- A requested session may have a row already, which must not be deleted while message rows are added.
    SELECT l.shared, l.busy INTO shared, busy FROM keeper.share_lanes(q, asked) l;
    PERFORM keeper.come_back_to(q, busy);
  END IF;
  IF cardinality(firsts) > 0 OR cardinality(of_asked) > 0 THEN
    -- Requested sessions first, with all of their messages. Of other sessions only cached messages become rows: batches of
    -- requested sessions may have newer messages of them, while older ones, in other batches, were not read yet. A session
    -- that is not listed but has messages has waited as long as these.
    WITH rows_of_asked AS MATERIALIZED (SELECT * FROM keeper.untie(q, of_asked, asked)),
         rows AS MATERIALIZED (
           SELECT r.* FROM rows_of_asked r
           UNION ALL
           SELECT r.* FROM keeper.untie(q, firsts, sessions) r)
    SELECT array_agg(o.session ORDER BY o.session), array_agg(o.head ORDER BY o.session) INTO others, other_heads
      FROM (SELECT r.of_session AS session, min(r.of_seq) AS head FROM rows r
             WHERE r.of_session NOT IN (SELECT unnest(sessions)) GROUP BY r.of_session) o;
  END IF;
  -- A cached hold is persisted about a second after its beginning.
  INSERT INTO keeper.lane (queue, session, status, place, until, epoch, reached, owner, node, held_since)
  SELECT q, s.session, CASE WHEN s.epoch > 0 THEN 1 ELSE 0 END, COALESCE(NULLIF(s.head, 0), nextval('keeper.message_seq')),
         CASE WHEN s.epoch > 0 THEN clock_timestamp() + keeper.micros(s.left_us) END, s.epoch,
         CASE WHEN s.epoch > 0 THEN s.head ELSE 0 END, CASE WHEN s.epoch > 0 THEN s.owner END,
         CASE WHEN s.epoch > 0 THEN at_node END, CASE WHEN s.epoch > 0 THEN clock_timestamp() END
    FROM unnest(sessions, epochs, owners, lefts_us, heads) s(session, epoch, owner, left_us, head)
   ORDER BY s.session
  ON CONFLICT DO NOTHING;
  INSERT INTO keeper.lane (queue, session, status, place)
  SELECT q, o.session, 0, o.head FROM unnest(others, other_heads) o(session, head)
   WHERE o.session <> ALL (shared || busy)
  ON CONFLICT DO NOTHING;
  -- Sessions whose head may be due later, may have expired, or may be settled by now.
  FOR one IN SELECT s.session FROM unnest(sessions, epochs, heads) s(session, epoch, head)
              WHERE s.epoch = 0 AND s.head = 0 LOOP
    PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = one AND l.status + 0 = 0 FOR UPDATE;
    IF FOUND THEN
      PERFORM keeper.place_lane(q, one, of_shard);
    END IF;
  END LOOP;
  IF cardinality(asks) > 0 THEN
    PERFORM keeper.answer_asks(q, asks, shared || busy, of_shard);
    -- The reader does not cache these sessions again before a caller had time to claim them.
    INSERT INTO keeper.ask (queue, session, needs_lane, answered_at)
    SELECT q, g.session, false, clock_timestamp() FROM unnest(given) g(session);
  END IF;
  IF now_known IS NOT NULL THEN
    UPDATE keeper.discovery d SET known = now_known::pg_snapshot, left_after = NULL WHERE d.queue = q;
  END IF;
  IF ends > 0 THEN
    DELETE FROM keeper.reader r WHERE r.queue = q AND r.epoch = my_epoch;
    DELETE FROM keeper.reading x WHERE x.queue = q AND x.epoch = my_epoch;
  END IF;
  IF ends = 2 THEN
    SELECT a.my_epoch, a.my_buckets INTO next_epoch, next_buckets FROM keeper.add_reader(q, at_node) a;
  END IF;
  RETURN QUERY
    SELECT s.session, l.until, NULL::text, l.epoch, NULL::bigint, NULL::text
      FROM unnest(sessions, epochs) s(session, epoch)
           CROSS JOIN LATERAL (SELECT x.until, x.epoch FROM keeper.lane x
                                WHERE x.queue = q AND x.session = s.session OFFSET 0) l
     WHERE s.epoch > 0 AND l.epoch = s.epoch;
  RETURN QUERY
    SELECT s.session, NULL::timestamptz, l.node, l.epoch, NULL::bigint, NULL::text
      FROM unnest(shared || busy) s(session)
           CROSS JOIN LATERAL (SELECT x.node, x.epoch, x.status FROM keeper.lane x
                                WHERE x.queue = q AND x.session = s.session OFFSET 0) l
     WHERE l.status = 1 AND s.session = ANY (others);
  RETURN QUERY SELECT NULL::text, NULL::timestamptz, NULL::text, next_epoch, next_buckets, known_to;
END $$;

-- Ends write_down for the requests: sessions with message rows only, such as replayed ones, get session rows, and sessions
-- that need a row without messages get one that no consumer can claim for a moment.
CREATE OR REPLACE FUNCTION keeper.answer_asks(q int, asks bigint[], with_lanes text[], of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  one record;
  moment timestamptz := clock_timestamp();
  head bigint;
BEGIN
  FOR one IN
    SELECT a.session, bool_or(a.needs_lane) AS needs_lane FROM keeper.ask a
     WHERE a.queue = q AND a.id = ANY (asks) AND a.session <> '' AND a.session <> ALL (with_lanes)
     GROUP BY a.session ORDER BY a.session
  LOOP
    SELECT m.seq INTO head FROM keeper.message m WHERE m.queue = q AND m.session = one.session ORDER BY m.seq LIMIT 1;
    IF FOUND THEN
      INSERT INTO keeper.lane (queue, session, status, place) VALUES (q, one.session, 0, head) ON CONFLICT DO NOTHING;
      PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = one.session AND l.status + 0 = 0 FOR UPDATE;
      IF FOUND THEN
        -- The head may be due later, or may have expired.
        PERFORM keeper.place_lane(q, one.session, of_shard);
      END IF;
    END IF;
    IF one.needs_lane THEN
      INSERT INTO keeper.lane (queue, session, status, place, until)
      VALUES (q, one.session, 2, nextval('keeper.message_seq'), moment + interval '2 seconds') ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
  UPDATE keeper.ask a SET answered_at = moment WHERE a.queue = q AND a.id = ANY (asks);
  DELETE FROM keeper.ask a WHERE a.queue = q AND a.answered_at < moment - interval '10 seconds';
END $$;

-- Returns the open requests to a reader: their numbers and sessions, or how many sessions it should give away.
DROP FUNCTION IF EXISTS keeper.look_at_asks(int);
CREATE OR REPLACE FUNCTION keeper.look_at_asks(q int, my_epoch bigint) RETURNS TABLE (id bigint, session text, how_many int)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT a.id, a.session, a.how_many
      FROM keeper.ask a JOIN keeper.reader r ON r.queue = a.queue AND r.epoch = my_epoch
     WHERE a.queue = q AND a.answered_at IS NULL
       AND CASE WHEN a.session = ''
                THEN a.node <> r.node AND a.asked_at > clock_timestamp() - interval '500 milliseconds'
                ELSE keeper.is_of(a.session, r.owns) AND a.asked_at > clock_timestamp() - interval '1 minute' END
     ORDER BY a.id LIMIT 1000;
END $$;

-- Requests that the reader of a session, if there is one, persists it.
CREATE OR REPLACE FUNCTION keeper.ask_reader(q int, of_session text, needs boolean, OUT ask_id bigint, OUT reader_epoch bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  SELECT r.epoch INTO reader_epoch FROM keeper.reader r
   WHERE r.queue = q AND r.until > clock_timestamp() AND keeper.is_of(of_session, r.owns) LIMIT 1;
  IF FOUND THEN
    -- A request that a crash loses is sent again.
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO keeper.ask AS a (queue, session, needs_lane) VALUES (q, of_session, needs) RETURNING a.id INTO ask_id;
  END IF;
END $$;

-- Requests this many sessions from readers, without waiting. Returns false if there is no other one.
CREATE OR REPLACE FUNCTION keeper.ask_for_sessions(q int, many int, at_node text) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM keeper.reader r
                  WHERE r.queue = q AND r.until > clock_timestamp() AND r.node <> at_node AND r.owns <> 0) THEN
    RETURN false;
  END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  DELETE FROM keeper.ask a WHERE a.queue = q AND a.session = '' AND a.node = at_node AND a.answered_at IS NULL;
  INSERT INTO keeper.ask (queue, session, needs_lane, how_many, node) VALUES (q, '', false, many, at_node);
  RETURN true;
END $$;

-- Asks all readers to stop; no process becomes one for a while. Returns false if there is none.
CREATE OR REPLACE FUNCTION keeper.stop_readers(q int) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE keeper.discovery d SET asked_at = clock_timestamp() WHERE d.queue = q;
  RETURN EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp());
END $$;

-- Returns the newest open request, if there is a reader to answer it.
CREATE OR REPLACE FUNCTION keeper.last_ask(q int, OUT ask_id bigint, OUT reader_epoch bigint)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  SELECT r.epoch INTO reader_epoch FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp() LIMIT 1;
  IF FOUND THEN
    SELECT max(a.id) INTO ask_id FROM keeper.ask a WHERE a.queue = q AND a.answered_at IS NULL AND a.session <> '';
  END IF;
END $$;

-- Returns whether all requests up to this one are answered, and when the lease of the reader ends; NULL if it has ended.
CREATE OR REPLACE FUNCTION keeper.look_for_answers(q int, upto bigint, reader_epoch bigint, OUT are_answered boolean,
  OUT reads_until timestamptz)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  are_answered := NOT EXISTS (SELECT FROM keeper.ask a
                               WHERE a.queue = q AND a.id <= upto AND a.answered_at IS NULL AND a.session <> ''
                                 AND a.asked_at > clock_timestamp() - interval '1 minute');
  SELECT r.until INTO reads_until FROM keeper.reader r
   WHERE r.queue = q AND r.epoch = reader_epoch AND r.until > clock_timestamp();
END $$;

-- Ends a reading that this process began without getting the answer.
CREATE OR REPLACE FUNCTION keeper.forget_reader(q int, at_node text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  FOR gone IN SELECT r.epoch FROM keeper.reader r WHERE r.queue = q AND r.node = at_node LOOP
    DELETE FROM keeper.reader r WHERE r.queue = q AND r.epoch = gone;
    DELETE FROM keeper.reading x WHERE x.queue = q AND x.epoch = gone;
    PERFORM keeper.fold_notes(q, gone);
  END LOOP;
END $$;

-- queues/R__9_remove.sql
-- Purges and deletes queues.

-- Deletes all messages and leases of a queue. Dead letters, session state and remembered ids stay. The owner of a lease
-- finds no row and has lost it. Returns -1 if a reader has cached sessions: the caller lets it persist them and tries again.
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
  -- No process discovers messages or becomes a reader meanwhile.
  PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp()) THEN
    RETURN -1;
  END IF;
  DELETE FROM keeper.reader r WHERE r.queue = q;
  DELETE FROM keeper.reading x WHERE x.queue = q;
  PERFORM keeper.fold_notes(q, NULL);
  DELETE FROM keeper.lane l WHERE l.queue = q;
  DELETE FROM keeper.late_session s WHERE s.queue = q;
  DELETE FROM keeper.failed_head f WHERE f.queue = q;
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

-- Deletes everything of a queue whose own row is gone: every table of the schema refers to the queue by number. A number is
-- never used again, so rows that a transaction stored meanwhile do no harm.
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
     -- Discovery first, because a reader locks it first.
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

-- inspect/V2__attempts_of_queues.sql
-- The newest failed attempts of a queue, whatever their session: for the screen of bots.
CREATE INDEX attempt_queue ON keeper.attempt (queue, id);

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

-- bulk/V2__events.sql
-- A replay of GitHub events sends to the queues of several bots. Those of other runs have one queue, in the column queue.
ALTER TABLE keeper.bulk ADD COLUMN queues text[] NOT NULL DEFAULT '{}';
