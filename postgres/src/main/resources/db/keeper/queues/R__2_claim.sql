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
  -- This process itself, if it has a row that it may not know of; else any that lives.
  SELECT * INTO reader FROM keeper.reader r WHERE r.queue = q ORDER BY r.until <= moment, r.node <> at_node LIMIT 1;
  IF FOUND THEN
    -- While one of them lives, it is they who see to those that are dead (keeper.bury_readers).
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
    -- Somebody may have begun to read this moment.
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
       SET known = seen, left_after = CASE WHEN are_bundles_left THEN untied[cardinality(untied)] END, node = at_node
     WHERE d.queue = q;
    is_late := EXISTS (SELECT FROM keeper.late_session s WHERE s.queue = q);
    IF is_late THEN
      existing := keeper.place_late_sessions(q, -1, -1);
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
