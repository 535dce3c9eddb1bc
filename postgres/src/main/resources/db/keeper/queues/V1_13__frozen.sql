-- Since when the time to live of a session's messages stands still: it is set aside, or its first message blocks it.
ALTER TABLE keeper.lane ADD COLUMN frozen_since timestamptz;
