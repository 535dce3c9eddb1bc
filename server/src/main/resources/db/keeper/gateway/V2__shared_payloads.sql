-- The payload is kept once for the event and all of its messages: in keeper.shared_body, under the event's id. It stands
-- here only where it is not the body of any message: of a form, over a queue's limit, very short, or for nobody.
ALTER TABLE keeper.github_event ALTER COLUMN payload DROP NOT NULL;

-- Events and routes are written in one transaction and forgotten in one; to check that at every row cost more than the row.
ALTER TABLE keeper.github_route DROP CONSTRAINT github_route_event_fkey;
