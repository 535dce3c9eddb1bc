-- A round names the leases that it handed out as their owner shows them.
ALTER TABLE keeper.work_request DROP COLUMN sessions, DROP COLUMN epochs,
  ADD COLUMN leases text[] NOT NULL DEFAULT '{}';
