-- Stores messages in the order of the arrays. The same statement serves single sends, groups of them, and sends inside of
-- an application's own transaction. It touches no row that a consumer touches.

-- sessions is NULL for an unordered queue.  keys: what ids are told apart by; different within one call; NULL: the ids are
-- UUIDs and tell themselves apart.  forms, types: one element stands for all.  props, ttls, not_befores: NULL where no
-- message has any.  sizes: how many go into each bundle, at most 64 (a message with a shared body alone), and weights, how
-- many bytes these have.  buckets: of which each has messages; NULL: of any.
-- are_unused: the sender has made all ids and uses them for the first time.  times: when ids that begin with the time were
-- made, in units of about a second, NULL where no lock is needed; span, from the first to the last millisecond; low_key, high_key: the least and the greatest of the keys.
-- One row: the first number of each bundle; the others follow it. Where ids are known already nothing is stored, and the
-- row has their keys, and the numbers of the first ones. None at all: they cannot be stored as unused ones now.
--
-- How ids are told apart (Q-03): each has a row in "duplicate", whose key is unique. Unused ones are written to "sent" instead, one
-- row for a bundle. An id may still be used by somebody else at the same time, to whom its sender gave it. Who writes to "sent" has
-- a shared lock on the times of its ids (1) until it commits; who writes ids that begin with the time to "duplicate", and is not the first to use them, has one (2). The first makes sure
-- that nobody has (2), and looks into "duplicate", or gives up and does as everybody does. The other has (2) first, waits for those who have (1), and
-- looks into "sent". So of two that use one id, one sees the other. Nobody waits longer than for a commit of unused ids, which is
-- never one of an application's own transaction.
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
    -- One that is too large must not be stored: nobody could read its bundle.
    PERFORM moment + keeper.micros(t.longest) FROM (SELECT max(u) FROM unnest(ttls) u) t(longest);
  END IF;
  IF remembered > interval '0' AND are_unused THEN
    SELECT bool_and(pg_try_advisory_xact_lock_shared(keeper.time_lock(q, t.made_at, 1))
                    AND pg_try_advisory_lock(keeper.time_lock(q, t.made_at, 2))
                    AND pg_advisory_unlock(keeper.time_lock(q, t.made_at, 2)))
      INTO are_unused FROM unnest(times) t(made_at);
    -- In a statement of its own, so that it sees what those have done who had the lock.
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
    -- In other levels "sent" is seen as it was when the transaction began, and an id of it would be stored twice. Ids that
    -- have rows of their own, and those that are used for the first time, are told apart in every level.
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
    -- An id that is in an application's open transaction must not hold up those it was sent together with: the call fails, and
    -- the caller sends each alone.
    PERFORM set_config('lock_timeout', '100ms', true);
  END IF;
  WHILE remembered > interval '0' LOOP
    -- In the order of the keys, so that two senders of the same ids wait for each other and never in a circle. That an id
    -- is known is the exception, and looking first would cost as much again as storing.
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
        -- Stored by somebody whom this transaction cannot see.
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
