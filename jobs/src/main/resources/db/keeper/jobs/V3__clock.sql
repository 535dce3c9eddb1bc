-- How long the lease was when its owner took the job: with it, a lease that ends later than this from now was taken or
-- renewed by a clock that has been set back since.
ALTER TABLE keeper.job ADD COLUMN lease_millis bigint NOT NULL DEFAULT 3600000;
-- When a run ended well for the last time.
ALTER TABLE keeper.job ADD COLUMN last_success_at timestamptz;
