-- Stores messages in the order of the arrays, for single sends, batches of sends, and sends in an application's transaction.
-- Touches no row that a consumer touches.

-- sessions: NULL for an unordered queue. keys: the keys of the ids, different within one call; NULL if the ids are UUIDs and
-- their own keys. forms, types: one element stands for all. props, ttls, not_befores: NULL if no message has any. sizes: the
-- number of messages of each batch, at most 64 (one with a shared payload is alone); weights: their bytes. buckets: the
-- buckets of each batch; NULL for any. are_unused: the sender created all ids and uses them for the first time. times: when
-- ids that begin with their time were created, in units of about a second; NULL if no lock is needed. span: from the first
-- to the last millisecond. low_key, high_key: the least and the greatest key. Returns one row with the first number of each
-- batch, from which the others follow. If ids are known already, nothing is stored, and the row has their keys and the
-- numbers of the first messages. Returns no row if the messages cannot be stored as unused ones now. How ids are recognised
-- (Q-03): each id has a row in "duplicate", whose key is unique. Unused ids are stored in "sent" instead, one row per batch.
-- Another sender may use such an id at the same time, if it was given the id. A transaction that writes to "sent" has a
-- shared lock (1) on the times of its ids until it commits. A transaction that writes an id with a time to "duplicate", and
-- is not its first user, has a lock (2). The first kind makes sure that no transaction has (2) and looks into "duplicate";
-- otherwise it gives up and acts like the second kind. The second kind takes (2) first, waits for all holders of (1), and
-- looks into "sent". So of two transactions with one id, one sees the other. A transaction waits at most for a commit of
-- unused ids, which is never an application's own transaction.
CREATE OR REPLACE FUNCTION keeper.time_lock(q int, made_at bigint, kind bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashint8extended((q::bigint << 40) # made_at, kind) $$;

DROP FUNCTION IF EXISTS keeper.send(int, text[], text[], uuid[], smallint[], text[], bytea[], text[], bigint[],
                                    timestamptz[], bigint);
DROP FUNCTION IF EXISTS keeper.send(int, text[], text[], uuid[], smallint[], text[], bytea[], text[], bigint[],
                                    timestamptz[], int[], bigint[], boolean, bigint[], int8range, uuid, uuid, bigint);
CREATE OR REPLACE FUNCTION keeper.send(q int, sessions text[], ids text[], keys uuid[], forms smallint[], types text[],
  bodies bytea[], props text[], ttls bigint[], not_befores timestamptz[], sizes int[], weights bigint[], buckets bigint[],
  are_unused boolean, times bigint[], span int8range, low_key uuid, high_key uuid, of_shard bigint,
  OUT firsts bigint[], OUT known_keys uuid[], OUT known_seqs bigint[])
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  ttl bigint;
  told_apart_by uuid[] := COALESCE(keys, ids::uuid[]);
  remembered interval;
  seqs bigint[];
  tries int := 0;
BEGIN
  SELECT k.ttl_us, keeper.micros(k.duplicate_us),
         ARRAY(SELECT nextval('keeper.message_seq') FROM generate_series(1, cardinality(sizes)))
    INTO ttl, remembered, firsts
    FROM keeper.queue k WHERE k.id = q;
  IF ttls IS NOT NULL THEN
    -- A batch that is too large must not be stored, because no consumer could read it.
    PERFORM moment + keeper.micros(t.longest) FROM (SELECT max(u) FROM unnest(ttls) u) t(longest);
  END IF;
  IF remembered > interval '0' AND are_unused THEN
    SELECT bool_and(pg_try_advisory_xact_lock_shared(keeper.time_lock(q, t.made_at, 1))
                    AND pg_try_advisory_lock(keeper.time_lock(q, t.made_at, 2))
                    AND pg_advisory_unlock(keeper.time_lock(q, t.made_at, 2)))
      INTO are_unused FROM unnest(times) t(made_at);
    -- A statement of its own, so that it sees the commits of earlier holders of the lock.
    IF are_unused AND EXISTS (
         SELECT FROM keeper.duplicate d WHERE d.queue = q AND d.key BETWEEN low_key AND high_key) THEN
      are_unused := NOT EXISTS (
        SELECT FROM unnest(told_apart_by) k(key)
               CROSS JOIN LATERAL (SELECT FROM keeper.duplicate y WHERE y.queue = q AND y.key = k.key OFFSET 0) x);
    END IF;
    IF NOT are_unused THEN
      firsts := NULL;
      known_keys := '{}';
      known_seqs := '{}';
      RETURN;
    END IF;
    remembered := interval '0' - remembered;
  ELSIF remembered > interval '0' AND times IS NOT NULL THEN
    -- At other levels, "sent" is visible as of the beginning of the transaction, and a known id would be stored twice. Ids
    -- with rows of their own, and ids used for the first time, are recognised at every level.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      RAISE EXCEPTION 'The transaction is in %, where an id that was made with the time cannot be told from one that others sent meanwhile; use READ COMMITTED for it, or another id',
        upper(current_setting('transaction_isolation')) USING ERRCODE = 'SK003';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(keeper.time_lock(q, t.made_at, 2)) FROM unnest(times) t(made_at);
    PERFORM pg_advisory_lock(keeper.time_lock(q, t.made_at, 1))::text = '' AND pg_advisory_unlock(keeper.time_lock(q, t.made_at, 1))
       FROM unnest(times) t(made_at);
    SELECT array_agg(k.key), array_agg(s.first_seq + k.n - 1) INTO known_keys, known_seqs
      FROM keeper.sent s CROSS JOIN LATERAL unnest(s.keys) WITH ORDINALITY k(key, n)
     WHERE s.span && send.span AND s.queue = q AND s.expires_at > moment AND k.key IN (SELECT unnest(told_apart_by));
    IF known_keys IS NOT NULL THEN
      firsts := NULL;
      RETURN;
    END IF;
  END IF;
  IF sessions IS NULL OR remembered > interval '0' THEN
    seqs := ARRAY(SELECT b.first + g.i FROM unnest(firsts, sizes) WITH ORDINALITY b(first, size, n)
                         CROSS JOIN LATERAL generate_series(0, b.size - 1) g(i)
                   ORDER BY b.n, g.i);
  END IF;
  IF of_shard >= 0 THEN
    -- An id in an application's open transaction must not delay other messages: the call fails, and the caller sends each
    -- alone.
    PERFORM set_config('lock_timeout', '100ms', true);
  END IF;
  WHILE remembered > interval '0' LOOP
    -- In the order of the keys, so that two senders of the same ids cannot deadlock. Known ids are rare, and a check before
    -- the insert would cost as much again as the insert.
    BEGIN
      INSERT INTO keeper.duplicate (queue, key, seq, expires_at)
      SELECT q, u.key, u.seq, moment + remembered FROM unnest(told_apart_by, seqs) u(key, seq) ORDER BY u.key;
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      DELETE FROM keeper.duplicate d
       WHERE d.ctid = ANY (ARRAY(
         SELECT x.place_of
           FROM (SELECT k.key FROM unnest(told_apart_by) k(key) ORDER BY k.key) k
                CROSS JOIN LATERAL (SELECT y.ctid AS place_of, y.expires_at FROM keeper.duplicate y
                                     WHERE y.queue = q AND y.key = k.key OFFSET 0 FOR UPDATE) x
          WHERE x.expires_at <= moment));
      SELECT array_agg(k.key), array_agg(x.seq) INTO known_keys, known_seqs
        FROM unnest(told_apart_by) k(key)
             CROSS JOIN LATERAL (SELECT y.seq FROM keeper.duplicate y WHERE y.queue = q AND y.key = k.key OFFSET 0) x;
      IF known_keys IS NOT NULL THEN
        firsts := NULL;
        RETURN;
      END IF;
      tries := tries + 1;
      IF tries = 3 THEN
        -- Stored by a transaction that this one cannot see.
        RAISE EXCEPTION 'a message with one of these ids is being stored' USING ERRCODE = '40001';
      END IF;
    END;
  END LOOP;

  IF remembered < interval '0' AND cardinality(sizes) = 1 THEN
    INSERT INTO keeper.sent (queue, first_seq, span, keys, expires_at)
    VALUES (q, firsts[1], send.span, told_apart_by, moment - remembered);
  ELSIF remembered < interval '0' THEN
    INSERT INTO keeper.sent (queue, first_seq, span, keys, expires_at)
    SELECT q, b.first, send.span, told_apart_by[b.upto - b.size + 1 : b.upto], moment - remembered
      FROM (SELECT u.first, u.size, (sum(u.size) OVER (ORDER BY u.n))::int AS upto
              FROM unnest(firsts, sizes) WITH ORDINALITY u(first, size, n)) b;
  END IF;
  IF sessions IS NULL THEN
    INSERT INTO keeper.loose_message (queue, seq, form, expires_at, visible_at, not_before, ttl_us, message_id,
                                      content_type, body, properties)
    SELECT q, u.seq, COALESCE(u.form, forms[1]), moment + keeper.micros(COALESCE(u.ttl_us, ttl)), COALESCE(u.not_before, moment),
           u.not_before, u.ttl_us, u.id, COALESCE(u.type, types[1]), u.body, u.props
      FROM unnest(seqs, ids, forms, types, bodies, props, ttls, not_befores)
           u(seq, id, form, type, body, props, ttl_us, not_before);
  ELSIF cardinality(sizes) = 1 THEN
    INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, shared, sessions, ids,
                               forms, types, bodies, props, ttls, not_befores, buckets)
    VALUES (q, firsts[1], firsts[1] + sizes[1] - 1, -1::bigint # ((-2::bigint) << (sizes[1] - 1)), weights[1], moment,
            moment + keeper.micros(ttl), CASE WHEN forms[1] >= 4 THEN encode(bodies[1], 'hex')::uuid END, sessions, ids,
            forms, types, bodies, props, ttls, not_befores, COALESCE(send.buckets[1], -1));
  ELSE
    INSERT INTO keeper.bundle (queue, first_seq, last_seq, members, bytes, enqueued_at, expires_at, shared, sessions, ids,
                               forms, types, bodies, props, ttls, not_befores, buckets)
    SELECT q, b.first, b.first + b.size - 1, -1::bigint # ((-2::bigint) << (b.size - 1)), b.weight, moment,
           moment + keeper.micros(ttl),
           CASE WHEN COALESCE(forms[b.upto], forms[1]) >= 4 THEN encode(bodies[b.upto], 'hex')::uuid END,
           sessions[b.upto - b.size + 1 : b.upto], ids[b.upto - b.size + 1 : b.upto],
           CASE cardinality(forms) WHEN 1 THEN forms ELSE forms[b.upto - b.size + 1 : b.upto] END,
           CASE cardinality(types) WHEN 1 THEN types ELSE types[b.upto - b.size + 1 : b.upto] END,
           bodies[b.upto - b.size + 1 : b.upto], props[b.upto - b.size + 1 : b.upto], ttls[b.upto - b.size + 1 : b.upto],
           not_befores[b.upto - b.size + 1 : b.upto], COALESCE(b.buckets, -1)
      FROM (SELECT u.first, u.size, u.weight, u.buckets, (sum(u.size) OVER (ORDER BY u.n))::int AS upto
              FROM unnest(firsts, sizes, weights, send.buckets) WITH ORDINALITY u(first, size, weight, buckets, n)) b;
  END IF;
  -- The common case of add_to_tally, without the cost of a call.
  UPDATE keeper.tally t SET arrived = t.arrived + cardinality(ids) WHERE t.queue = q AND t.shard = of_shard;
  IF NOT FOUND THEN
    PERFORM keeper.add_to_tally(q, of_shard, cardinality(ids), 0, 0);
  END IF;
END $$;
