-- When a lane was written last: one that was written in the future belongs to a clock that has been set back since.
ALTER TABLE keeper.usage_lane ADD COLUMN touched_at timestamptz;

-- Lists by capacity. Ids grow with time, so an id is also the place in a list.
CREATE INDEX registered_session_capacity ON keeper.registered_session (capacity_id, session_id);

-- The ledger from a time on. Rows come in the order of time, so a block's range is enough, and costs a writer nothing.
CREATE INDEX usage_ledger_to ON keeper.usage_ledger USING brin (period_to)
  WITH (pages_per_range = 16, autosummarize = on);
