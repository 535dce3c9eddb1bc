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
