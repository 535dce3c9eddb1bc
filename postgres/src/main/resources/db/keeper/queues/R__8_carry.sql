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
