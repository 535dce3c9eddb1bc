-- The newest value of each key. Updated often and in place, so pages keep room for the next version of their rows.
CREATE TABLE keeper.last_value (
  space   text        NOT NULL,
  key     text        NOT NULL,
  version bigint      NOT NULL,
  value   text        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (space, key)
) WITH (fillfactor = 50);

-- Values that were refused for good, with the reason.
CREATE TABLE keeper.last_value_dead (
  id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space   text        NOT NULL,
  key     text        NOT NULL,
  version bigint      NOT NULL,
  value   text        NOT NULL,
  cause   text        NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
