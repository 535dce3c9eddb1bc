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
