CREATE TABLE placed (number bigserial, id text PRIMARY KEY, customer text, item text, booked boolean NOT NULL DEFAULT false);
CREATE TABLE ledger (id text, customer text, item text);
CREATE INDEX placed_open ON placed (customer, number) WHERE NOT booked;
