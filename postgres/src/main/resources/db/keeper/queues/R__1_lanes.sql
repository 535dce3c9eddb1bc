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
