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
-- The caller keeps others from making lanes, as above, in these buckets.
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
      -- Its head may be due later, or too old.
      PERFORM keeper.place_lane(q, one, of_shard);
    END IF;
  END LOOP;
  DELETE FROM keeper.late_session s WHERE s.queue = q AND s.session = ANY (late) AND s.session <> ALL (busy);
  RETURN shared;
END $$;
