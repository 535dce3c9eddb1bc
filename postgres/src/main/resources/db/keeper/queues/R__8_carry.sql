-- A queue that is read by one process alone: what is new is read with its bodies and handed out from memory; only
-- sessions with something unusual about them are written down as lanes.

-- Becomes the reader, unless there is one, somebody else wanted sessions lately, or less than that is new. Discovery is
-- locked first, by everybody who changes who reads. last_seq: up to which number everything is known; zero when more is
-- new than can be read at once.
DROP FUNCTION IF EXISTS keeper.become_reader(int, text, int, bigint, bigint);
CREATE OR REPLACE FUNCTION keeper.become_reader(q int, at_node text, least_new int, most int, alone_us bigint,
  OUT my_epoch bigint, OUT known_to text, OUT lease_us bigint, OUT last_seq bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  old pg_snapshot;
  asked timestamptz;
  moment timestamptz := clock_timestamp();
  fresh bigint;
BEGIN
  last_seq := (SELECT s.last_value FROM keeper.message_seq s);
  SELECT d.known, d.asked_at INTO old, asked FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF asked > moment - keeper.micros(alone_us) OR EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q) THEN
    RETURN;
  END IF;
  SELECT count(*) INTO fresh
    FROM (SELECT FROM keeper.message m
           WHERE m.queue::bigint = q AND m.xid >= pg_snapshot_xmax(old) LIMIT most + 1) f;
  IF fresh < least_new THEN
    RETURN;
  END IF;
  IF fresh > most THEN
    last_seq := 0;
  END IF;
  SELECT k.lock_us INTO lease_us FROM keeper.queue k WHERE k.id = q;
  IF lease_us < 1000000 THEN
    RETURN; -- So short a lease would be lost for a breath.
  END IF;
  INSERT INTO keeper.reader (queue, epoch, node, until, beat_at, begun_at)
  VALUES (q, nextval('keeper.epoch_seq'), at_node, moment + keeper.micros(lease_us), moment, moment)
  RETURNING epoch INTO my_epoch;
  known_to := old;
END $$;

-- What became visible since that snapshot, in the order of the numbers, up to the most. Where that is not all, the rest is
-- read by further calls, with the snapshot up to which is read (goal) and the last number of the page before.
-- kind 4: a message, and when it is too old (until), 5: up to which snapshot (node), and number (seq) if that is not all, 2: a held lane
-- has news, 3: somebody else reads now, 0: the summary: moment, a number for epochs, the place of the first ready lane (seq),
-- whether another process wants sessions, the last number given out (ttl_us).
DROP FUNCTION IF EXISTS keeper.read_new(int, bigint, text, boolean, bigint, bigint);
CREATE OR REPLACE FUNCTION keeper.read_new(q int, my_epoch bigint, known_to text, known_seq bigint, goal text,
                                           after_seq bigint, most int, most_bytes bigint,
                                           beats boolean)
RETURNS SETOF keeper.handed
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  old pg_snapshot := known_to::pg_snapshot;
  moment timestamptz := clock_timestamp();
  seen pg_snapshot := goal::pg_snapshot;
  last_seq bigint := (SELECT s.last_value FROM keeper.message_seq s);
  -- So few that all can be read by their transactions; else they are read in line.
  are_few boolean := goal IS NULL AND last_seq - known_seq <= LEAST(most, 1024);
  upto bigint;
  fresh text[];
  existing text[];
  mine keeper.reader;
BEGIN
  SELECT * INTO mine FROM keeper.reader r WHERE r.queue = q AND r.epoch = my_epoch AND r.until > moment;
  IF FOUND AND beats THEN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE keeper.reader r
       SET beat_at = moment, until = moment + (SELECT keeper.micros(k.lock_us) FROM keeper.queue k WHERE k.id = q)
     WHERE r.queue = q AND r.epoch = my_epoch AND r.until > moment;
  END IF;
  IF NOT FOUND THEN
    RETURN NEXT (3::smallint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL, NULL, NULL)::keeper.handed;
    RETURN;
  END IF;
  -- Nobody but this reader makes lanes. Where there are some, messages of their sessions are theirs; that is settled
  -- first, as in claim_lanes, and only then is read, so that what a lane took along when it went is not seen any more.
  IF NOT are_few THEN
    seen := COALESCE(seen, pg_current_snapshot());
    -- message_line. A page is so many, or so large; where it ends before the goal, by that number.
    SELECT CASE WHEN count(*) < most AND max(m.bytes) <= most_bytes THEN NULL
                ELSE max(m.seq) FILTER (WHERE m.n = 1 OR m.bytes <= most_bytes) END INTO upto
      FROM (SELECT x.seq, row_number() OVER line AS n, sum(x.bytes) OVER line AS bytes
              FROM (SELECT f.seq, octet_length(f.body) AS bytes FROM keeper.message f
                     WHERE f.queue + 0 = q AND f.seq > after_seq
                       AND NOT pg_visible_in_snapshot(f.xid, old) AND pg_visible_in_snapshot(f.xid, seen)
                     ORDER BY f.seq LIMIT most) x
            WINDOW line AS (ORDER BY x.seq)) m;
    IF EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q) THEN
      SELECT array_agg(DISTINCT m.session ORDER BY m.session) INTO fresh
        FROM keeper.message m
       WHERE m.queue + 0 = q AND m.seq > after_seq AND m.seq <= COALESCE(upto, 9223372036854775807)
         AND NOT pg_visible_in_snapshot(m.xid, old) AND pg_visible_in_snapshot(m.xid, seen);
    END IF;
  ELSIF EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q) THEN
    SELECT pg_current_snapshot(), array_agg(DISTINCT m.session ORDER BY m.session) INTO seen, fresh
      FROM (SELECT a.session FROM keeper.message a WHERE a.queue::bigint = q AND a.xid >= pg_snapshot_xmax(old)
            UNION ALL
            SELECT b.session FROM keeper.message b
             WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))) m;
  END IF;
  IF fresh IS NOT NULL AND EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q) THEN
    SELECT array_agg(l.session) INTO existing
      FROM unnest(fresh) f(session)
           CROSS JOIN LATERAL (SELECT x.session FROM keeper.lane x WHERE x.queue = q AND x.session = f.session
                               OFFSET 0 FOR KEY SHARE) l;
    RETURN QUERY
      SELECT 2::smallint, l.session, l.epoch, NULL::timestamptz, l.node, NULL::bigint, NULL::int, NULL::smallint,
             NULL::boolean, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, NULL::bigint,
             NULL::text, NULL::text, NULL::bytea, NULL::text, NULL::int
        FROM unnest(existing) f(session)
             CROSS JOIN LATERAL (SELECT * FROM keeper.lane x WHERE x.queue = q AND x.session = f.session OFFSET 0) l
       WHERE l.status = 1;
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  IF are_few THEN
    RETURN QUERY
      SELECT 5::smallint, NULL::text, NULL::bigint, NULL::timestamptz, COALESCE(seen, pg_current_snapshot())::text,
             NULL::bigint, NULL::int, NULL::smallint, NULL::boolean, NULL::timestamptz, NULL::timestamptz,
             NULL::timestamptz, NULL::bigint, NULL::text, NULL::text, NULL::bytea, NULL::text, NULL::int
      UNION ALL
      (SELECT 4::smallint, m.session, NULL, m.expires_at, NULL, m.seq, m.attempts, m.form & 3::smallint, m.expires_at <= moment,
              m.enqueued_at, m.due_at, m.not_before, m.ttl_us, m.message_id, m.content_type,
              CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END, m.properties, m.replays
         FROM (SELECT * FROM keeper.message a WHERE a.queue::bigint = q AND a.xid >= pg_snapshot_xmax(old)
               UNION ALL
               SELECT * FROM keeper.message b
                WHERE b.queue::bigint = q AND b.xid = ANY (ARRAY(SELECT pg_snapshot_xip(old)))) m
        WHERE (seen IS NULL OR pg_visible_in_snapshot(m.xid, seen))
          AND (existing IS NULL OR (m.session IN (SELECT unnest(existing))) IS NOT TRUE)
        ORDER BY m.seq);
  ELSE
    RETURN NEXT (5::smallint, NULL, NULL, NULL, seen::text, upto, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                 NULL, NULL, NULL)::keeper.handed;
    -- message_line
    RETURN QUERY
      SELECT 4::smallint, m.session, NULL::bigint, m.expires_at, NULL::text, m.seq, m.attempts, m.form & 3::smallint,
             m.expires_at <= moment, m.enqueued_at, m.due_at, m.not_before, m.ttl_us, m.message_id, m.content_type,
             CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END, m.properties, m.replays
        FROM keeper.message m
       WHERE m.queue + 0 = q AND m.seq > after_seq AND m.seq <= COALESCE(upto, 9223372036854775807)
         AND NOT pg_visible_in_snapshot(m.xid, old) AND pg_visible_in_snapshot(m.xid, seen)
         AND (existing IS NULL OR (m.session IN (SELECT unnest(existing))) IS NOT TRUE)
       ORDER BY m.seq;
  END IF;
  RETURN NEXT (0::smallint, NULL, nextval('keeper.epoch_seq'), moment, NULL,
               (SELECT l.place FROM keeper.lane l WHERE l.queue::bigint = q AND l.status = 0 ORDER BY l.place LIMIT 1),
               NULL, NULL,
               COALESCE((SELECT d.asked_at > mine.begun_at FROM keeper.discovery d WHERE d.queue = q), false),
               NULL, NULL, NULL, last_seq, NULL, NULL, NULL, NULL, NULL)::keeper.handed;
END $$;

-- Completes messages of sessions that are carried. Returns those that have been written down meanwhile; nothing was
-- changed for them.
CREATE OR REPLACE FUNCTION keeper.settle_carried(q int, my_epoch bigint, sessions text[], done_sessions text[],
  done_seqs bigint[], lenient boolean, of_shard bigint)
RETURNS SETOF text
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  written text[];
BEGIN
  PERFORM 1 FROM keeper.reader r
    WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp() FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'this process is not the reader any more' USING ERRCODE = 'SK002';
  END IF;
  IF EXISTS (SELECT FROM keeper.lane l WHERE l.queue = q) THEN
    SELECT array_agg(s.session) INTO written
      FROM unnest(sessions) s(session)
           CROSS JOIN LATERAL (SELECT FROM keeper.lane x WHERE x.queue = q AND x.session = s.session OFFSET 0) l;
  END IF;
  RETURN QUERY SELECT unnest(written);
  PERFORM keeper.complete_messages(q, done_sessions, done_seqs, written, lenient, of_shard);
END $$;

-- Gives carried sessions their lanes: held ones (epoch above zero) with what is left of their lease, others ready. heads:
-- their places in the line, zero where the lane has to be looked at; of held ones what is in hand at most. With known_to
-- it is the end of reading: everything that this snapshot sees has its lane then. Tells the ends of the leases, and one row
-- without a session; nothing at all when somebody else reads now, and then nothing was changed.
CREATE OR REPLACE FUNCTION keeper.write_down(q int, my_epoch bigint, at_node text, sessions text[], epochs bigint[],
  owners text[], lefts_us bigint[], heads bigint[], known_to text, of_shard bigint)
RETURNS TABLE (of_session text, held_until timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  one text;
BEGIN
  IF known_to IS NOT NULL THEN
    PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  END IF;
  PERFORM 1 FROM keeper.reader r
    WHERE r.queue = q AND r.epoch = my_epoch AND r.until > clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  INSERT INTO keeper.lane (queue, session, status, place, until, epoch, reached, owner, node)
  SELECT q, s.session, CASE WHEN s.epoch > 0 THEN 1 ELSE 0 END, COALESCE(NULLIF(s.head, 0), nextval('keeper.message_seq')),
         CASE WHEN s.epoch > 0 THEN clock_timestamp() + keeper.micros(s.left_us) END, s.epoch,
         CASE WHEN s.epoch > 0 THEN s.head ELSE 0 END, CASE WHEN s.epoch > 0 THEN s.owner END,
         CASE WHEN s.epoch > 0 THEN at_node END
    FROM unnest(sessions, epochs, owners, lefts_us, heads) s(session, epoch, owner, left_us, head)
   ORDER BY s.session
  ON CONFLICT DO NOTHING;
  -- Whose head may be due later, or too old, or settled by now.
  FOR one IN SELECT s.session FROM unnest(sessions, epochs, heads) s(session, epoch, head)
              WHERE s.epoch = 0 AND s.head = 0 LOOP
    PERFORM 1 FROM keeper.lane l WHERE l.queue = q AND l.session = one AND l.status + 0 = 0 FOR UPDATE;
    IF FOUND THEN
      PERFORM keeper.place_lane(q, one, of_shard);
    END IF;
  END LOOP;
  IF known_to IS NOT NULL THEN
    UPDATE keeper.discovery d SET known = known_to::pg_snapshot WHERE d.queue = q;
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
