-- Failed attempts of messages of ordered queues, for people who ask why a session does not move. A trigger writes them in the
-- statement that settles, and only when an attempt fails: an attempt that succeeds costs nothing, and no attempt that counts is lost.
CREATE TABLE keeper.attempt (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue   int         NOT NULL,
  session text        COLLATE "C" NOT NULL,
  seq     bigint      NOT NULL,
  attempt int         NOT NULL,
  -- Postponed: it comes again, and the attempt does not count.
  counted boolean     NOT NULL,
  epoch   bigint,
  owner   text,
  at      timestamptz NOT NULL,
  error   text        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

CREATE INDEX attempt_session ON keeper.attempt (queue, session, id);
CREATE INDEX attempt_at ON keeper.attempt (at);

CREATE FUNCTION keeper.remember_attempt() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  INSERT INTO keeper.attempt (queue, session, seq, attempt, counted, epoch, owner, at, error)
  SELECT NEW.queue, NEW.session, NEW.seq, NEW.attempts, NEW.attempts > OLD.attempts, l.epoch, l.owner, NEW.failed_at,
         left(COALESCE(NEW.last_error, ''), 4000)
    FROM (SELECT) one LEFT JOIN keeper.lane l ON l.queue = NEW.queue AND l.session = NEW.session;
  RETURN NULL;
END $$;

CREATE TRIGGER remember_attempt AFTER UPDATE OF failed_at ON keeper.message
  FOR EACH ROW WHEN (NEW.failed_at IS DISTINCT FROM OLD.failed_at) EXECUTE FUNCTION keeper.remember_attempt();

-- The bodies that dead letters had before a person repaired them.
CREATE TABLE keeper.repaired_body (
  id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dead_letter  bigint      NOT NULL,
  message_id   text        COLLATE "C" NOT NULL,
  queue        text        COLLATE "C" NOT NULL,
  form         smallint    NOT NULL,
  content_type text        NOT NULL,
  body         bytea       NOT NULL,
  digest       bytea       NOT NULL,
  actor        text        NOT NULL,
  at           timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX repaired_body_message ON keeper.repaired_body (queue, message_id, id);
