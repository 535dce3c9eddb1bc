-- Stores messages in the order of the arrays. The same statement serves single sends, groups of them, and sends inside of
-- an application's own transaction. It touches no row that a consumer touches.

-- sessions is NULL for an unordered queue.  keys: what ids are told apart by; different within one call; NULL: the ids are
-- UUIDs and tell themselves apart.  forms, types: one element stands for all.  props, ttls, not_befores: NULL where no
-- message has any.
-- One row: the numbers, and which were stored; NULL when all were. Not stored = the id is known; the number is then that of
-- the first one, or NULL if it was stored this very moment.
DROP FUNCTION IF EXISTS keeper.send(int, text[], text[], uuid[], smallint[], text[], bytea[], text[], bigint[],
                                    timestamptz[], bigint);
CREATE FUNCTION keeper.send(q int, sessions text[], ids text[], keys uuid[], forms smallint[], types text[],
  bodies bytea[], props text[], ttls bigint[], not_befores timestamptz[], of_shard bigint)
RETURNS TABLE (numbers bigint[], are_stored boolean[])
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  ttl bigint;
  one_form smallint := forms[1];
  one_type text := types[1];
  told_apart_by uuid[] := COALESCE(keys, ids::uuid[]);
  remembered interval;
  seqs bigint[];
  -- Those whose ids are new; NULL when all are.
  kept bigint[];
  stored int := cardinality(ids);
BEGIN
  SELECT k.ttl_us, keeper.micros(k.duplicate_us) INTO ttl, remembered FROM keeper.queue k WHERE k.id = q;
  seqs := ARRAY(SELECT nextval('keeper.message_seq') FROM generate_series(1, cardinality(ids)));
  IF remembered > interval '0' THEN
    -- In the order of the keys, so that two senders of the same ids wait for each other and never in a circle. That an id
    -- is known is the exception, and looking first would cost as much again as storing.
    BEGIN
      INSERT INTO keeper.duplicate (queue, key, seq, expires_at)
      SELECT q, u.key, u.seq, moment + remembered FROM unnest(told_apart_by, seqs) u(key, seq) ORDER BY u.key;
    EXCEPTION WHEN unique_violation THEN
      INSERT INTO keeper.duplicate AS d (queue, key, seq, expires_at)
      SELECT q, u.key, u.seq, moment + remembered FROM unnest(told_apart_by, seqs) u(key, seq) ORDER BY u.key
      ON CONFLICT (queue, key) DO UPDATE SET seq = excluded.seq, expires_at = excluded.expires_at
         WHERE d.expires_at <= moment;
      GET DIAGNOSTICS stored = ROW_COUNT;
      IF stored < cardinality(ids) THEN
        kept := ARRAY(SELECT u.seq FROM unnest(told_apart_by, seqs) u(key, seq)
                        JOIN keeper.duplicate d ON d.queue = q AND d.key = u.key AND d.seq = u.seq);
      END IF;
    END;
  END IF;

  IF sessions IS NULL THEN
    INSERT INTO keeper.loose_message (queue, seq, form, expires_at, visible_at, not_before, ttl_us, message_id,
                                      content_type, body, properties)
    SELECT q, u.seq, COALESCE(u.form, one_form), moment + keeper.micros(COALESCE(u.ttl_us, ttl)), COALESCE(u.not_before, moment),
           u.not_before, u.ttl_us, u.id, COALESCE(u.type, one_type), u.body, u.props
      FROM unnest(seqs, ids, forms, types, bodies, props, ttls, not_befores)
           u(seq, id, form, type, body, props, ttl_us, not_before)
     WHERE kept IS NULL OR u.seq = ANY (kept);
  ELSE
    INSERT INTO keeper.message (seq, queue, form, expires_at, due_at, not_before, ttl_us, session, message_id,
                                content_type, body, properties)
    SELECT u.seq, q, COALESCE(u.form, one_form), moment + keeper.micros(COALESCE(u.ttl_us, ttl)), u.not_before, u.not_before, u.ttl_us,
           u.session, u.id, COALESCE(u.type, one_type), u.body, u.props
      FROM unnest(seqs, sessions, ids, forms, types, bodies, props, ttls, not_befores)
           u(seq, session, id, form, type, body, props, ttl_us, not_before)
     WHERE kept IS NULL OR u.seq = ANY (kept);
  END IF;
  PERFORM keeper.add_to_tally(q, of_shard, stored, 0, 0);

  IF kept IS NULL THEN
    RETURN QUERY SELECT seqs, NULL::boolean[];
  ELSE
    RETURN QUERY
      SELECT array_agg(CASE WHEN u.seq = ANY (kept) THEN u.seq
                            ELSE (SELECT d.seq FROM keeper.duplicate d WHERE d.queue = q AND d.key = u.key) END ORDER BY u.n),
             array_agg(u.seq = ANY (kept) ORDER BY u.n)
        FROM unnest(seqs, told_apart_by) WITH ORDINALITY u(seq, key, n);
  END IF;
END $$;
