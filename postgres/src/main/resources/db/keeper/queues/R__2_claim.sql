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
