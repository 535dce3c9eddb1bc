package dev.sessionkeeper.client;

/**
 * An event of a stream.
 *
 * @param id its number in the stream, without gaps
 * @param event its name
 * @param data a JSON document
 */
public record StreamedEvent(long id, String event, String data) {}
