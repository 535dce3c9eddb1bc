package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The options of every command that talks to a server: where it is, who asks, how the answer is
 * shown.
 */
final class Remote {
  private static final JsonMapper PRETTY =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          .build();

  enum Format {
    text,
    json
  }

  @Option(
      names = {"-u", "--url"},
      split = ",",
      paramLabel = "URL",
      defaultValue = "${env:KEEPER_URL:-http://127.0.0.1:8080}",
      description =
          "The server's address, or several of one store with commas between them."
              + " Default: $KEEPER_URL, else http://127.0.0.1:8080")
  List<URI> urls = List.of(URI.create("http://127.0.0.1:8080"));

  @Option(
      names = "--key",
      defaultValue = "${env:KEEPER_API_KEY}",
      description = "The API key. Default: $KEEPER_API_KEY")
  @Nullable String key;

  @Option(
      names = {"-o", "--output"},
      defaultValue = "text",
      description = "text or json. Default: text")
  Format format = Format.text;

  KeeperClient open() {
    var client = KeeperClient.of(urls);
    return key == null || key.isEmpty() ? client : client.withApiKey(key);
  }

  /** Shows a page: its items as a table, or the whole answer as JSON. */
  void show(JsonNode page, String items, Table table, String whenEmpty) {
    var terminal = Terminal.standard();
    if (format == Format.json) {
      terminal.print(PRETTY.writeValueAsString(page));
      return;
    }
    var list = page.path(items);
    if (list.isEmpty()) {
      terminal.print(whenEmpty);
      return;
    }
    terminal.print(table.render(list));
    var next = page.path("nextCursor").asString("");
    if (!next.isEmpty()) {
      terminal.note(terminal.dim("There is more: add --cursor " + next));
    }
  }

  /** Shows one answer: a sentence, or JSON. */
  void tell(JsonNode answer, String sentence) {
    Terminal.standard().print(format == Format.json ? PRETTY.writeValueAsString(answer) : sentence);
  }

  /** Query parameters without those that were not given. */
  static Map<String, String> query(@Nullable String... namesAndValues) {
    var query = new LinkedHashMap<String, String>();
    for (int i = 0; i + 1 < namesAndValues.length; i += 2) {
      var name = namesAndValues[i];
      var value = namesAndValues[i + 1];
      if (name != null && value != null) {
        query.put(name, value);
      }
    }
    return query;
  }
}
