-- What a process that reads a queue alone has completed of bundles that are not complete yet: a note for each of its settlements,
-- where one row stands for the bits of all bundles it is about. A bundle that is complete goes, without its bits having been set;
-- they are set (keeper.fold_notes) before anybody else looks at them, and where a note has become old. So the bits of a bundle and those of
-- its notes are the truth together, and there are notes only where there is a reader. docs/adr/0009-bundles.md says why.
CREATE TABLE keeper.completion (
  queue  int      NOT NULL,
  -- Counted by the reader.
  note   bigint   NOT NULL,
  -- Bundles by their first numbers, and the bits of what is completed.
  firsts bigint[] NOT NULL,
  masks  bigint[] NOT NULL,
  PRIMARY KEY (queue, note)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000, vacuum_truncate = off);

ALTER TABLE keeper.completion ALTER firsts SET STORAGE EXTERNAL, ALTER masks SET STORAGE EXTERNAL;
