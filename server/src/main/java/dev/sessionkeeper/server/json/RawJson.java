package dev.sessionkeeper.server.json;

/** JSON that was read once and is written again as it was. */
public record RawJson(String text) {}
