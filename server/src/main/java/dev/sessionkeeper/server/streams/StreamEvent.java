package dev.sessionkeeper.server.streams;

/**
 * One event of a stream.
 *
 * @param id its number; the first is 1, and none is left out
 * @param data a JSON document
 */
record StreamEvent(long id, String event, String data) {}
