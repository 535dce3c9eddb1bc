package dev.sessionkeeper.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses server-sent events as the HTML standard defines them. Used by one thread. */
final class ParseEvents {
  private static final String DEFAULT_NAME = "message";

  private final BufferedReader lines;
  private final Runnable onLine;
  private boolean first = true;
  private String lastId = "";

  /**
   * Creates a parser.
   *
   * @param onLine runs for every line, including comments, which show that the server is alive
   */
  ParseEvents(InputStream in, Runnable onLine) {
    this.lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    this.onLine = onLine;
  }

  /**
   * One event as it was sent.
   *
   * @param id the last id that was sent, with this event or before; empty if none was
   */
  record Raw(String id, String event, String data) {}

  /**
   * Returns the next event; empty if the stream ended. An incomplete event at the end is dropped.
   */
  Optional<Raw> next() throws IOException {
    var data = new StringBuilder();
    boolean hasData = false;
    var event = DEFAULT_NAME;
    for (var line = line(); line != null; line = line()) {
      if (line.isEmpty()) {
        if (hasData) {
          return Optional.of(new Raw(lastId, event, data.substring(0, data.length() - 1)));
        }
        event = DEFAULT_NAME;
        continue;
      }
      int colon = line.indexOf(':');
      var field = colon < 0 ? line : line.substring(0, colon);
      var value = colon < 0 ? "" : withoutFirstSpace(line.substring(colon + 1));
      switch (field) {
        case "data" -> {
          data.append(value).append('\n');
          hasData = true;
        }
        case "event" -> event = value.isEmpty() ? DEFAULT_NAME : value;
        case "id" -> lastId = value.indexOf('\0') < 0 ? value : lastId;
        // The number of an event that has an id of its publisher; the server resumes from either.
        case "number" -> lastId = value;
        default -> {
          // A comment, an unknown field, or "retry", which the retry policy replaces.
        }
      }
    }
    return Optional.empty();
  }

  private @Nullable String line() throws IOException {
    var line = lines.readLine();
    onLine.run();
    if (first && line != null && line.startsWith("\uFEFF")) {
      line = line.substring(1);
    }
    first = false;
    return line;
  }

  private static String withoutFirstSpace(String value) {
    return value.startsWith(" ") ? value.substring(1) : value;
  }
}
