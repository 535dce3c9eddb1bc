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
