-- Parked and paused sessions are counted at every look at the metrics.
CREATE INDEX lane_aside ON keeper.lane ((queue::bigint), status) WHERE status IN (3, 4);
