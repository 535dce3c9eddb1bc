CREATE TABLE placed (id text PRIMARY KEY, customer text, item text);
CREATE TABLE ledger (id text, customer text, item text);
CREATE TABLE outbox (number bigserial PRIMARY KEY, id text, customer text, item text);
CREATE TABLE handled (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
