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
