-- The newest failed attempts of a queue, whatever their session: for the screen of bots.
CREATE INDEX attempt_queue ON keeper.attempt (queue, id);
