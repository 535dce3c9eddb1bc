-- Sealed audit rows form a chain: each hash covers its row and the hash before it. Rows are sealed shortly after their
-- commit, in the order of sealing; so acts need not wait for each other.
ALTER TABLE keeper.audit
  ADD COLUMN seq  bigint,
  ADD COLUMN hash bytea,
  ADD CHECK ((seq IS NULL) = (hash IS NULL));
CREATE UNIQUE INDEX audit_seq ON keeper.audit (seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_unsealed ON keeper.audit (id) WHERE seq IS NULL;

-- The two ends of the chain. Retention moves the first one.
CREATE TABLE keeper.audit_chain (
  id          boolean PRIMARY KEY DEFAULT true CHECK (id),
  forgotten   bigint  NOT NULL DEFAULT 0,
  forgot_hash bytea   NOT NULL DEFAULT ''::bytea,
  last_seq    bigint  NOT NULL DEFAULT 0,
  last_hash   bytea   NOT NULL DEFAULT ''::bytea
);
INSERT INTO keeper.audit_chain DEFAULT VALUES;

-- API keys that were created through the API, by their digests.
CREATE TABLE keeper.api_key (
  prefix     text        PRIMARY KEY,
  name       text        NOT NULL,
  sha256     text        NOT NULL UNIQUE,
  roles      text[]      NOT NULL,
  tenant     uuid,
  queues     text[],
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by text        NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE UNIQUE INDEX api_key_name ON keeper.api_key (name) WHERE revoked_at IS NULL;
