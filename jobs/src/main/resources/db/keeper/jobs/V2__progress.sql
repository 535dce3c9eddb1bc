-- How far a run has come, in its own words; only the newest word is kept. A run writes into the row of its own epoch, so
-- one that has lost its lease disturbs nobody.
ALTER TABLE keeper.job_run ADD COLUMN progress text, ADD COLUMN progress_no bigint NOT NULL DEFAULT 0;
