-- Messages of unordered queues: each is locked on its own.

-- Makes a message of an unordered queue a dead letter.
CREATE OR REPLACE FUNCTION keeper.bury_loose(q int, of_seq bigint, tried int, why text, error text, of_shard bigint)
RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
BEGIN
  WITH dead AS (DELETE FROM keeper.loose_message m WHERE m.queue = q AND m.seq = of_seq RETURNING m.*)
  INSERT INTO keeper.dead_letter (queue, seq, message_id, form, content_type, body, properties, ttl_us, not_before,
                                  attempts, replays, reason, last_error, enqueued_at)
  SELECT d.queue, d.seq, d.message_id, d.form & 3, d.content_type,
         CASE WHEN d.form < 4 THEN d.body ELSE keeper.shared_body(d.body) END, d.properties, d.ttl_us, d.not_before,
         d.attempts + tried, d.replays, why, COALESCE(NULLIF(error, ''), d.last_error, ''), d.enqueued_at
    FROM dead d;
  IF FOUND THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, 1, 1);
  END IF;
END $$;

-- Handles a failed attempt: the message returns to its place by age, waits, or follows the poison policy.
CREATE OR REPLACE FUNCTION keeper.fail_loose(q int, of_seq bigint, delay_us bigint, limited boolean, error text,
                                             of_shard bigint) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  tried int;
  most int;
  policy text;
BEGIN
  UPDATE keeper.loose_message m
     SET attempts = m.attempts + 1, last_error = error, receipt = 0,
         visible_at = CASE WHEN delay_us = 0 THEN m.enqueued_at ELSE clock_timestamp() + keeper.micros(delay_us) END
   WHERE m.queue = q AND m.seq = of_seq
  RETURNING m.attempts INTO tried;
  SELECT k.max_delivery_count, k.poison_policy INTO most, policy FROM keeper.queue k WHERE k.id = q;
  IF limited AND tried >= most AND policy IN ('DEAD_LETTER', 'PARK_SESSION') THEN
    PERFORM keeper.bury_loose(q, of_seq, 0, 'max delivery count reached', error, of_shard);
  END IF;
END $$;

-- Ends expired locks, and dead-letters expired messages. Returns when to look next.
CREATE OR REPLACE FUNCTION keeper.wake_loose(q int, of_shard bigint, OUT woken int, OUT next_us bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  late record;
BEGIN
  woken := 0;
  FOR late IN
    SELECT m.seq FROM keeper.loose_message m
     WHERE m.queue::bigint = q AND m.receipt <> 0 AND m.visible_at <= moment
     ORDER BY m.visible_at LIMIT 500 FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM keeper.fail_loose(q, late.seq, 0, true, 'the lock ran out before the message was settled', of_shard);
    woken := woken + 1;
  END LOOP;
  FOR late IN
    SELECT m.seq FROM keeper.loose_message m
     WHERE m.queue::bigint = q AND m.expires_at - m.enqueued_at < interval '1 hour' AND m.expires_at <= moment AND m.receipt = 0
     ORDER BY m.expires_at LIMIT 500 FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM keeper.bury_loose(q, late.seq, 0, 'expired', NULL, of_shard);
  END LOOP;
  SELECT (extract(epoch FROM least(
            (SELECT m.visible_at FROM keeper.loose_message m
              WHERE m.queue::bigint = q AND m.receipt <> 0 AND m.visible_at > moment ORDER BY m.visible_at LIMIT 1),
            (SELECT m.visible_at FROM keeper.loose_message m
              WHERE m.queue::bigint = q AND m.receipt = 0 AND m.visible_at > moment ORDER BY m.visible_at LIMIT 1),
            (SELECT m.expires_at FROM keeper.loose_message m
              WHERE m.queue::bigint = q AND m.expires_at - m.enqueued_at < interval '1 hour' AND m.expires_at > moment
              ORDER BY m.expires_at LIMIT 1)) - moment) * 1000000)::bigint
    INTO next_us;
END $$;

-- Locks the oldest free messages, until payloads and properties exceed most_bytes. The loop locks a row only when it reaches
-- the row, so messages that do not fit stay free for other receivers.
DROP FUNCTION IF EXISTS keeper.receive_loose(int, int, bigint);
CREATE OR REPLACE FUNCTION keeper.receive_loose(q int, most int, most_bytes bigint, of_shard bigint)
RETURNS SETOF keeper.handed
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  lease interval;
  picked record;
  places tid[] := '{}';
  bytes bigint := 0;
BEGIN
  SELECT keeper.micros(k.lock_us) INTO lease FROM keeper.queue k WHERE k.id = q;
  FOR picked IN
    SELECT m.ctid AS place_of,
           octet_length(CASE WHEN m.form < 4 THEN m.body ELSE keeper.shared_body(m.body) END)
             + COALESCE(octet_length(m.properties), 0) AS size
      FROM keeper.loose_message m
     WHERE m.queue::bigint = q AND m.receipt = 0 AND m.visible_at <= moment
     ORDER BY m.visible_at, m.seq LIMIT most FOR UPDATE SKIP LOCKED
  LOOP
    bytes := bytes + picked.size;
    EXIT WHEN bytes > most_bytes AND cardinality(places) > 0;
    places := places || picked.place_of;
  END LOOP;
  FOR picked IN
    WITH locked AS (
           UPDATE keeper.loose_message m SET receipt = nextval('keeper.epoch_seq'), visible_at = moment + lease
            WHERE m.ctid = ANY (places)
           RETURNING m.*)
    SELECT (1::smallint, NULL::text, l.receipt, l.visible_at, NULL::text, l.seq, l.attempts, l.form & 3::smallint, false,
            l.enqueued_at, NULL::timestamptz, l.not_before, l.ttl_us, l.message_id, l.content_type,
            CASE WHEN l.form < 4 THEN l.body ELSE keeper.shared_body(l.body) END, l.properties,
            l.replays)::keeper.handed AS row_out, l.expires_at <= moment AS is_old
      FROM locked l ORDER BY l.seq
  LOOP
    IF picked.is_old THEN
      PERFORM keeper.bury_loose(q, (picked.row_out).seq, 0, 'expired', NULL, of_shard);
    ELSE
      RETURN NEXT picked.row_out;
    END IF;
  END LOOP;
END $$;

-- Completes messages. Returns those whose lock is lost.
CREATE OR REPLACE FUNCTION keeper.complete_loose(q int, seqs bigint[], receipts bigint[], of_shard bigint)
RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  done bigint[];
BEGIN
  WITH gone AS (
    DELETE FROM keeper.loose_message m
     WHERE m.ctid = ANY (ARRAY(
       SELECT found.place_of
         FROM unnest(seqs, receipts) d(seq, receipt)
              CROSS JOIN LATERAL (SELECT x.ctid AS place_of, x.receipt, x.visible_at FROM keeper.loose_message x
                                   WHERE x.queue = q AND x.seq = d.seq OFFSET 0 FOR UPDATE) found
        WHERE found.receipt = d.receipt AND found.visible_at > moment))
    RETURNING m.seq)
  SELECT array_agg(g.seq) INTO done FROM gone g;
  IF cardinality(done) > 0 THEN
    PERFORM keeper.add_to_tally(q, of_shard, 0, cardinality(done), 0);
  END IF;
  IF COALESCE(cardinality(done), 0) < cardinality(seqs) THEN
    RETURN QUERY SELECT d.seq FROM unnest(seqs) d(seq) WHERE (d.seq IN (SELECT unnest(done))) IS NOT TRUE;
  END IF;
END $$;

-- Applies any other settlement to one message. Returns false if the lock is lost.
CREATE OR REPLACE FUNCTION keeper.settle_loose(q int, of_seq bigint, of_receipt bigint, act int, delay_us bigint,
  limited boolean, why text, error text, of_shard bigint) RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
  PERFORM 1 FROM keeper.loose_message m
    WHERE m.queue = q AND m.seq = of_seq AND m.receipt = of_receipt AND m.visible_at > clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF act = 1 THEN
    PERFORM keeper.fail_loose(q, of_seq, delay_us, limited, why, of_shard);
  ELSIF act = 5 THEN
    UPDATE keeper.loose_message m
       SET last_error = why, receipt = 0,
           visible_at = CASE WHEN delay_us = 0 THEN m.enqueued_at ELSE clock_timestamp() + keeper.micros(delay_us) END
     WHERE m.queue = q AND m.seq = of_seq;
  ELSE
    PERFORM keeper.bury_loose(q, of_seq, 1, why, error, of_shard);
  END IF;
  RETURN true;
END $$;
