-- GitHub signs the body alone. By its digest the same signed body is known again, whatever delivery id and event name come with
-- it. Events of earlier versions have none.
ALTER TABLE keeper.github_event ADD COLUMN digest bytea;

CREATE UNIQUE INDEX github_event_digest ON keeper.github_event (digest) WHERE digest IS NOT NULL;
