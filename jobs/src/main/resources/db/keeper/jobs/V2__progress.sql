-- How far a run has come, in its own words; only the newest word is kept. A run writes into the row of its own epoch, so
-- a node that has lost its lease disturbs no other node.
ALTER TABLE keeper.job_run ADD COLUMN progress text, ADD COLUMN progress_no bigint NOT NULL DEFAULT 0;
