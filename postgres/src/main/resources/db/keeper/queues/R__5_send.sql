-- Stores messages in the order of the arrays. The same statement serves single sends, groups of them, and sends inside of
-- an application's own transaction. It touches no row that a consumer touches.

-- sessions is NULL for an unordered queue.  keys: what ids are told apart by; different within one call.
-- Not stored = the id is known; seq is then that of the first one, or NULL if it was stored this very moment.
CREATE OR REPLACE FUNCTION keeper.send(q int, sessions text[], ids text[], keys uuid[], forms smallint[], types text[],
  bodies bytea[], props text[], ttls bigint[], not_befores timestamptz[], of_shard bigint)
RETURNS TABLE (seq bigint, is_stored boolean)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  ttl bigint;
  remembered interval;
  seqs bigint[];
  kept bigint[];
BEGIN
  SELECT k.ttl_us, keeper.micros(k.duplicate_us) INTO ttl, remembered FROM keeper.queue k WHERE k.id = q;
  seqs := ARRAY(SELECT nextval('keeper.message_seq') FROM generate_series(1, cardinality(ids)));
  IF remembered > interval '0' THEN
    -- In the order of the keys, so that two senders of the same ids wait for each other and never in a circle.
    WITH mine AS (
      INSERT INTO keeper.duplicate AS d (queue, key, seq, expires_at)
      SELECT q, u.key, u.seq, moment + remembered FROM unnest(keys, seqs) u(key, seq) ORDER BY u.key
      ON CONFLICT (queue, key) DO UPDATE SET seq = excluded.seq, expires_at = excluded.expires_at
         WHERE d.expires_at <= moment
      RETURNING d.seq)
    SELECT array_agg(m.seq) INTO kept FROM mine m;
  ELSE
    kept := seqs;
  END IF;

  IF sessions IS NULL THEN
    INSERT INTO keeper.loose_message (queue, seq, form, expires_at, visible_at, not_before, ttl_us, message_id,
                                      content_type, body, properties)
    SELECT q, u.seq, u.form, moment + keeper.micros(COALESCE(u.ttl_us, ttl)), COALESCE(u.not_before, moment),
           u.not_before, u.ttl_us, u.id, u.type, u.body, u.props
      FROM unnest(seqs, ids, forms, types, bodies, props, ttls, not_befores)
           u(seq, id, form, type, body, props, ttl_us, not_before)
     WHERE cardinality(kept) = cardinality(seqs) OR (u.seq IN (SELECT unnest(kept))) IS TRUE;
  ELSE
    INSERT INTO keeper.message (seq, queue, form, expires_at, due_at, not_before, ttl_us, session, message_id,
                                content_type, body, properties)
    SELECT u.seq, q, u.form, moment + keeper.micros(COALESCE(u.ttl_us, ttl)), u.not_before, u.not_before, u.ttl_us,
           u.session, u.id, u.type, u.body, u.props
      FROM unnest(seqs, sessions, ids, forms, types, bodies, props, ttls, not_befores)
           u(seq, session, id, form, type, body, props, ttl_us, not_before)
     WHERE cardinality(kept) = cardinality(seqs) OR (u.seq IN (SELECT unnest(kept))) IS TRUE;
  END IF;
  PERFORM keeper.add_to_tally(q, of_shard, COALESCE(cardinality(kept), 0), 0, 0);

  IF cardinality(kept) = cardinality(seqs) THEN
    RETURN QUERY SELECT u.seq, true FROM unnest(seqs) u(seq);
  ELSE
    RETURN QUERY
      SELECT CASE WHEN u.is_mine THEN u.seq
                  ELSE (SELECT d.seq FROM keeper.duplicate d WHERE d.queue = q AND d.key = u.key) END, u.is_mine
        FROM (SELECT x.seq, x.key, (x.seq IN (SELECT unnest(kept))) IS TRUE AS is_mine
                FROM unnest(seqs, keys) x(seq, key)) u;
  END IF;
END $$;
