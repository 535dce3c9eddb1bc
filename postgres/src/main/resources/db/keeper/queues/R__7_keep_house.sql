-- Housekeeping. Returns true if more can be done at once.
CREATE OR REPLACE FUNCTION keeper.keep_house(of_shard bigint) RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  forgotten int;
  forgotten_together int;
  buried int := 0;
  old record;
  of_queue record;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- One process at a time; the others have nothing to do.
  IF NOT pg_try_advisory_xact_lock(5735, 1) THEN
    RETURN false;
  END IF;

  DELETE FROM keeper.duplicate d
   WHERE d.ctid = ANY (ARRAY(SELECT x.ctid FROM keeper.duplicate x WHERE x.expires_at <= moment
                              LIMIT 5000 FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  DELETE FROM keeper.sent s
   WHERE s.ctid = ANY (ARRAY(SELECT x.ctid FROM keeper.sent x WHERE x.expires_at <= moment
                              LIMIT 5000 FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS forgotten_together = ROW_COUNT;

  FOR of_queue IN SELECT k.id, k.is_ordered FROM keeper.queue k LOOP
    -- By age: the oldest rows come first in this index, so reading its beginning suffices.
    IF of_queue.is_ordered THEN
      FOR old IN
        SELECT m.session, m.seq FROM (SELECT x.session, x.seq, x.expires_at FROM keeper.message x
                                       WHERE x.queue::bigint = of_queue.id ORDER BY x.xid LIMIT 1000) m
         WHERE m.expires_at <= moment
      LOOP
        PERFORM 1 FROM keeper.lane l
          WHERE l.queue = of_queue.id AND l.session = old.session AND l.status + 0 IN (0, 2) AND l.frozen_since IS NULL FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
          PERFORM keeper.bury(of_queue.id, old.session, old.seq, 0, 'expired', NULL, of_shard);
          PERFORM keeper.place_lane(of_queue.id, old.session, of_shard);
          buried := buried + 1;
        END IF;
      END LOOP;
    ELSE
      FOR old IN
        SELECT m.seq FROM (SELECT x.seq, x.expires_at, x.receipt FROM keeper.loose_message x
                            WHERE x.queue = of_queue.id ORDER BY x.seq LIMIT 1000) m
         WHERE m.expires_at <= moment AND m.receipt = 0
      LOOP
        PERFORM keeper.bury_loose(of_queue.id, old.seq, 0, 'expired', NULL, of_shard);
        buried := buried + 1;
      END LOOP;
    END IF;
  END LOOP;

  -- Rows of processes that are gone, or whose reading has ended.
  DELETE FROM keeper.ask a WHERE a.asked_at < moment - interval '2 minutes';

  -- Failures of messages that have left their batches.
  DELETE FROM keeper.failed_head f
   WHERE f.ctid = ANY (ARRAY(
     SELECT x.ctid FROM keeper.failed_head x
      WHERE x.failed_at < moment - interval '10 seconds'
        AND NOT EXISTS (SELECT FROM keeper.bundle b
                         WHERE b.queue = x.queue AND b.first_seq > x.seq - 64 AND b.first_seq <= x.seq AND b.last_seq >= x.seq)
      LIMIT 5000 FOR UPDATE SKIP LOCKED));

  -- An empty state of a session that has nothing else.
  DELETE FROM keeper.session_state s
   WHERE s.bytes = ''::bytea AND s.updated_at < moment - interval '1 hour'
     AND NOT EXISTS (SELECT FROM keeper.lane l WHERE l.queue = s.queue AND l.session = s.session);

  -- Merges counts of processes and of applications' transactions into one row. Last: a process that adds to one of them
  -- waits for this transaction, and creates a new row then.
  FOR of_queue IN SELECT k.id FROM keeper.queue k LOOP
    WITH folded AS (
      DELETE FROM keeper.tally t
       WHERE t.ctid = ANY (ARRAY(SELECT x.ctid FROM keeper.tally x WHERE x.queue = of_queue.id AND x.shard <> 0
                                  LIMIT 10000 FOR UPDATE SKIP LOCKED))
      RETURNING t.*)
    INSERT INTO keeper.tally AS t (queue, shard, arrived, gone, dead)
    SELECT of_queue.id, 0, sum(f.arrived), sum(f.gone), sum(f.dead) FROM folded f HAVING count(*) > 0
    ON CONFLICT (queue, shard) DO UPDATE
       SET arrived = t.arrived + excluded.arrived, gone = t.gone + excluded.gone, dead = t.dead + excluded.dead;
  END LOOP;
  RETURN forgotten = 5000 OR forgotten_together = 5000 OR buried >= 500;
END $$;
