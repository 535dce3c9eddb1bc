CREATE TABLE placed (id text PRIMARY KEY, customer text, item text);
CREATE TABLE ledger (id text, customer text, item text);
