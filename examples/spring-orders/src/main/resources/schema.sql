-- Named in full: for a user called keeper the search path would find the schema of the queues first.
CREATE SCHEMA IF NOT EXISTS shop;
CREATE TABLE IF NOT EXISTS shop.placed (id int GENERATED ALWAYS AS IDENTITY, customer text, item text);
CREATE TABLE IF NOT EXISTS shop.ledger (id bigint GENERATED ALWAYS AS IDENTITY, customer text, number int, item text);
