-- Audit rows say where an act came from, and how many equal acts a row stands for.
ALTER TABLE keeper.audit
  ADD COLUMN source text    NOT NULL DEFAULT '',
  ADD COLUMN count  integer NOT NULL DEFAULT 1;
CREATE INDEX audit_actor ON keeper.audit (actor, id);
CREATE INDEX audit_target ON keeper.audit (target, id);

-- Random keys that all servers of this store share. They sign lease ids.
CREATE TABLE keeper.server_secret (
  name       text        PRIMARY KEY,
  bytes      bytea       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Named subscribers of streams, and the credential that used each name last: their number is bounded.
CREATE TABLE keeper.stream_subscriber (
  stream     text        NOT NULL,
  name       text        NOT NULL,
  credential text        NOT NULL,
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (stream, name)
);
CREATE INDEX stream_subscriber_credential ON keeper.stream_subscriber (credential);
