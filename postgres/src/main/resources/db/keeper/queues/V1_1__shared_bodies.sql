-- Bodies that several messages share, such as an event that goes to many queues. Such a message has form + 4, and in the
-- place of its body the id of the shared one. Who reads it gets the body; a dead letter has a copy of its own.
CREATE TABLE keeper.shared_body (
  id    uuid  PRIMARY KEY,
  bytes bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off,
        -- What compresses into a page stays in the row: a GitHub payload of 10 KB does.
        toast_tuple_target = 8160);

-- Who still needs one, when it is about to go.
CREATE INDEX message_shared ON keeper.message (body) WHERE form >= 4;
CREATE INDEX loose_message_shared ON keeper.loose_message (body) WHERE form >= 4;

CREATE FUNCTION keeper.shared_body(ref bytea) RETURNS bytea
LANGUAGE plpgsql STABLE STRICT
SET enable_seqscan = off
AS $$
BEGIN
  RETURN (SELECT b.bytes FROM keeper.shared_body b WHERE b.id = encode(ref, 'hex')::uuid);
END $$;

-- Deletes shared bodies. Messages that still wait get a copy each.
CREATE FUNCTION keeper.release_bodies(ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  UPDATE keeper.message m SET form = m.form - 4, body = b.bytes
    FROM keeper.shared_body b
   WHERE b.id = ANY (ids) AND m.form >= 4 AND m.body = decode(replace(b.id::text, '-', ''), 'hex');
  UPDATE keeper.loose_message m SET form = m.form - 4, body = b.bytes
    FROM keeper.shared_body b
   WHERE b.id = ANY (ids) AND m.form >= 4 AND m.body = decode(replace(b.id::text, '-', ''), 'hex');
  DELETE FROM keeper.shared_body b WHERE b.id = ANY (ids);
END $$;
