-- Purges and deletes queues.

-- Deletes all messages and leases of a queue. Dead letters, session state and remembered ids stay. The owner of a lease
-- finds no row and has lost it. Returns -1 if a reader has cached sessions: the caller lets it persist them and tries again.
CREATE OR REPLACE FUNCTION keeper.purge_queue(q int, of_shard bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
  purged bigint;
  more bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM keeper.refuse_isolation();
  END IF;
  -- No process discovers messages or becomes a reader meanwhile.
  PERFORM 1 FROM keeper.discovery d WHERE d.queue = q FOR UPDATE;
  IF EXISTS (SELECT FROM keeper.reader r WHERE r.queue = q AND r.until > clock_timestamp()) THEN
    RETURN -1;
  END IF;
  DELETE FROM keeper.reader r WHERE r.queue = q;
  DELETE FROM keeper.reading x WHERE x.queue = q;
  PERFORM keeper.fold_notes(q, NULL);
  DELETE FROM keeper.lane l WHERE l.queue = q;
  DELETE FROM keeper.late_session s WHERE s.queue = q;
  DELETE FROM keeper.failed_head f WHERE f.queue = q;
  WITH gone AS (DELETE FROM keeper.bundle b WHERE b.queue = q RETURNING bit_count((b.members & ~b.done)::bit(64)) AS open)
  SELECT COALESCE(sum(g.open), 0) INTO purged FROM gone g;
  DELETE FROM keeper.message m WHERE m.queue = q;
  GET DIAGNOSTICS more = ROW_COUNT;
  purged := purged + more;
  DELETE FROM keeper.loose_message m WHERE m.queue = q;
  GET DIAGNOSTICS more = ROW_COUNT;
  purged := purged + more;
  PERFORM keeper.add_to_tally(q, of_shard, 0, purged, 0);
  RETURN purged;
END $$;

-- Deletes all dead letters of a queue.
CREATE OR REPLACE FUNCTION keeper.purge_dead_letters(q int, of_shard bigint) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
  purged bigint;
BEGIN
  DELETE FROM keeper.dead_letter d WHERE d.queue = q;
  GET DIAGNOSTICS purged = ROW_COUNT;
  PERFORM keeper.add_to_tally(q, of_shard, 0, 0, -purged);
  RETURN purged;
END $$;

-- Deletes everything of a queue whose own row is gone: every table of the schema refers to the queue by number. A number is
-- never used again, so rows that a transaction stored meanwhile do no harm.
CREATE OR REPLACE FUNCTION keeper.delete_rows_of(q int) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  of_table regclass;
BEGIN
  FOR of_table IN
    SELECT c.oid::regclass
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'keeper'
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'queue' AND a.atttypid = 'int4'::regtype AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
     -- Discovery first, because a reader locks it first.
     ORDER BY c.relname <> 'discovery', c.relname
  LOOP
    EXECUTE format('DELETE FROM %s WHERE queue = $1', of_table) USING q;
  END LOOP;
END $$;
