-- When the present owner took the session, for operators; it says nothing while the lane is not held.
ALTER TABLE keeper.lane ADD COLUMN held_since timestamptz;
