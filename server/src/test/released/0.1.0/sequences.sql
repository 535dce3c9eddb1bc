SELECT setval('keeper.audit_id_seq', 5, true);
SELECT setval('keeper.dead_letter_id_seq', 1, true);
SELECT setval('keeper.message_seq', 769, true);
SELECT setval('keeper.queue_id_seq', 1, true);
SELECT setval('keeper.stream_outbox_id_seq', 2, true);
