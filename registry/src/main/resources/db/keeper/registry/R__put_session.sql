-- A session as the event log shows it.
CREATE OR REPLACE FUNCTION keeper.session_json(s keeper.registered_session) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format('{"sessionId":"%s","userObjectId":"%s","tenantObjectId":"%s","capacityId":"%s","sessionKind":%s,'
             || '"sessionStartUtc":"%s","sessionEndUtc":"%s"}',
                s.session_id, s.user_id, s.tenant_id, s.capacity_id, s.kind,
                to_char(s.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                to_char(coalesce(s.ended_at, s.expires_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
$$;

-- The domain event of a change, in its transaction.
CREATE OR REPLACE FUNCTION keeper.tell_session(p_event text, s keeper.registered_session) RETURNS void
LANGUAGE sql VOLATILE AS $$
  INSERT INTO keeper.stream_outbox (stream, event, data)
  VALUES ('keeper.registry', p_event, keeper.session_json(s))
$$;

-- Begins a session, if the key is free, and tells it; nothing if another has the key. The caller has read the time p_at.
-- p_check: where no row could be locked, a session of this key may have begun and ended since the time was read, and a
-- clock may have gone back. Once the key is taken no other can: what has ended, ended before this one.
CREATE OR REPLACE FUNCTION keeper.begin_session(
  p_tenant uuid, p_user uuid, p_capacity uuid, p_kind smallint, p_factor_milli int, p_period_micros bigint,
  p_lifetime interval, p_at timestamptz, p_check boolean)
RETURNS keeper.registered_session LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  s keeper.registered_session;
  n timestamptz;
BEGIN
  INSERT INTO keeper.registered_session
         (session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros,
          started_at, expires_at, metered_through)
  VALUES (keeper.session_id(p_at), p_tenant, p_user, p_capacity, p_kind, p_factor_milli, p_period_micros,
          p_at, p_at + p_lifetime, p_at)
  ON CONFLICT (user_id, capacity_id) WHERE ended_at IS NULL DO NOTHING
  RETURNING * INTO s;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF p_check THEN
    SELECT max(r.ended_at) INTO n FROM keeper.registered_session r
     WHERE r.user_id = p_user AND r.capacity_id = p_capacity;
    IF n > s.started_at THEN
      n := greatest(n, keeper.now());
      UPDATE keeper.registered_session r
         SET started_at = n, expires_at = n + p_lifetime, metered_through = n
       WHERE r.session_id = s.session_id
      RETURNING r.* INTO s;
    END IF;
  END IF;
  PERFORM keeper.tell_session('session.created', s);
  RETURN s;
END $$;

-- PUT in one call and one transaction. The time is read after the lock: read before, two waiting callers could start
-- sessions in the past of the one that went first. A lost race with another insert is a new look.
CREATE OR REPLACE FUNCTION keeper.put_session(
  p_tenant uuid, p_user uuid, p_capacity uuid, p_kind smallint, p_factor_milli int, p_period_micros bigint,
  p_lifetime interval, OUT status text, OUT s keeper.registered_session)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  n timestamptz;
  held keeper.registered_session;
BEGIN
  FOR turn IN 1..20 LOOP
    status := 'created';
    SELECT * INTO held FROM keeper.registered_session r
     WHERE r.user_id = p_user AND r.capacity_id = p_capacity AND r.ended_at IS NULL
       FOR NO KEY UPDATE;
    n := keeper.now();
    IF FOUND THEN
      -- A clock that went back does not start a session inside of its predecessor.
      n := greatest(n, held.started_at, held.metered_through);
      IF held.expires_at <= n THEN
        PERFORM keeper.end_session(held, held.expires_at, 'expired');
      ELSIF held.tenant_id <> p_tenant THEN
        status := 'tenant-mismatch';
        RETURN;
      ELSIF held.kind >= p_kind THEN
        status := 'existing';
        s := held;
        RETURN;
      ELSE
        PERFORM keeper.end_session(held, n, 'upgraded');
        status := 'upgraded';
      END IF;
    END IF;
    s := keeper.begin_session(p_tenant, p_user, p_capacity, p_kind, p_factor_milli, p_period_micros, p_lifetime, n,
                              status = 'created');
    IF s.session_id IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'put_session made no progress' USING ERRCODE = '40001';
END $$;

-- Begins sessions of many keys in one call and one commit, as far as the keys are free; what is not answered is not
-- begun. In the order of the keys, so that two of these never wait for each other in a circle. Nobody waits here for
-- the lock of a stranger's row: only for an INSERT of the same key that has not ended, and not for long.
-- Rows that begin are one INSERT, events another: what a statement costs before its first row is paid once. Plans are
-- kept: made anew for each group they cost more than the group.
CREATE OR REPLACE FUNCTION keeper.begin_sessions(
  p_tenants uuid[], p_users uuid[], p_capacities uuid[], p_kinds int[], p_factors_milli int[],
  p_period_micros bigint, p_lifetime interval)
RETURNS TABLE (place int, began uuid, starts_at timestamptz, ends_at timestamptz)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '250ms'
AS $$
DECLARE
  n timestamptz := keeper.now();
  ids uuid[] := ARRAY(SELECT keeper.session_id(n) FROM unnest(p_users));
BEGIN
  RETURN QUERY
    WITH fresh AS (
      INSERT INTO keeper.registered_session AS s
             (session_id, tenant_id, user_id, capacity_id, kind, factor_milli, period_micros,
              started_at, expires_at, metered_through)
      SELECT w.id, w.t, w.u, w.c, w.k, w.f, p_period_micros, n, n + p_lifetime, n
        FROM unnest(ids, p_tenants, p_users, p_capacities, p_kinds, p_factors_milli) AS w (id, t, u, c, k, f)
       ORDER BY w.u, w.c
      ON CONFLICT (user_id, capacity_id) WHERE ended_at IS NULL DO NOTHING
      RETURNING s),
    told AS (
      INSERT INTO keeper.stream_outbox (stream, event, data)
      SELECT 'keeper.registry', 'session.created', keeper.session_json(s) FROM fresh)
    SELECT array_position(ids, (s).session_id), (s).session_id, (s).started_at, (s).expires_at FROM fresh;

  -- As in begin_session: the keys are taken now, and what has ended, ended before. One that ended after the time was
  -- read is rare: then nothing is begun here, and each is put alone.
  IF EXISTS (SELECT FROM unnest(p_users, p_capacities) AS w (u, c),
                         LATERAL (SELECT FROM keeper.registered_session r
                                   WHERE r.user_id = w.u AND r.capacity_id = w.c AND r.ended_at > n OFFSET 0) late) THEN
    RAISE EXCEPTION 'A key was taken and given back meanwhile' USING ERRCODE = 'lock_not_available';
  END IF;
END $$;
