-- One row that each server writes every few seconds to find out whether the database takes writes.
CREATE TABLE keeper.write_probe (
  at timestamptz NOT NULL
);
