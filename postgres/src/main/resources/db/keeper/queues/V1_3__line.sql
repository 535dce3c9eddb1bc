-- All messages of a queue in the order of their numbers: a reader works off what has piled up in pages, and finds what it
-- completes. The queue is an expression for the reason given in V1.
CREATE INDEX message_line ON keeper.message ((queue + 0), seq);
