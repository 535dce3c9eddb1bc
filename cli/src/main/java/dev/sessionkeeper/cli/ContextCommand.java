package dev.sessionkeeper.cli;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Names servers, so that commands need not repeat address and credentials. */
@Command(
    name = "context",
    description = {
      "List named servers; a star marks the one that commands call.",
      "Precedence: option, environment, context, http://127.0.0.1:8080."
    })
final class ContextCommand implements Callable<Integer> {
  private static final Table TABLE =
      Table.of("current", "name", "url", "keyFile", "ca", "cert", "certKey");

  @Option(
      names = {"-o", "--output"},
      defaultValue = "text",
      description = "text or json. Default: text")
  Remote.Format format = Remote.Format.text;

  private static Path file() {
    return Contexts.file(System.getenv());
  }

  @Override
  public Integer call() {
    var contexts = Contexts.read(file());
    var terminal = Terminal.standard();
    if (format == Remote.Format.json) {
      terminal.print(contexts.json().toPrettyString());
    } else if (contexts.all().isEmpty()) {
      terminal.print(
          "No contexts. Add one: keeper context set prod --url https://keeper.example.org");
    } else {
      var rows = JsonNodeFactory.instance.arrayNode();
      contexts
          .all()
          .forEach(
              (name, settings) -> {
                var row = rows.addObject();
                row.put("current", name.equals(contexts.current()) ? "*" : "");
                row.put("name", name);
                settings.forEach(row::put);
              });
      terminal.print(TABLE.render(rows));
    }
    return Exit.OK;
  }

  /** The settings of a context. */
  static final class Settings {
    @Option(
        names = {"-u", "--url"},
        required = true,
        description = "The address, or several with commas")
    String url = "";

    @Option(
        names = "--key-file",
        paramLabel = "FILE",
        description = "A file that holds the API key")
    @Nullable Path keyFile;

    @Option(names = "--ca", paramLabel = "FILE", description = "PEM file of the server's authority")
    @Nullable Path ca;

    @Option(names = "--cert", paramLabel = "FILE", description = "PEM file of your certificate")
    @Nullable Path cert;

    @Option(names = "--cert-key", paramLabel = "FILE", description = "PEM file of its private key")
    @Nullable Path certKey;
  }

  @Command(description = "The same as keeper context.")
  int list(
      @Option(
              names = {"-o", "--output"},
              defaultValue = "text",
              description = "text or json. Default: text")
          Remote.Format output) {
    format = output;
    return call();
  }

  @Command(description = "Add or replace a context. The first one becomes the current one.")
  int set(
      @Parameters(index = "0", paramLabel = "NAME") String name,
      @picocli.CommandLine.Mixin Settings given) {
    var settings = new LinkedHashMap<String, String>();
    for (var url : given.url.split(",", -1)) {
      var unused = new Remote.Address().convert(url);
    }
    settings.put("url", given.url);
    put(settings, "keyFile", given.keyFile);
    put(settings, "ca", given.ca);
    put(settings, "cert", given.cert);
    put(settings, "certKey", given.certKey);
    var next = Contexts.read(file()).with(name, settings);
    next.write(file());
    Terminal.standard()
        .print("Saved " + name + (next.current().equals(name) ? "; commands call it now." : "."));
    return Exit.OK;
  }

  @Command(description = "Choose the context that commands call.")
  int use(@Parameters(index = "0", paramLabel = "NAME") String name) {
    Contexts.read(file()).using(name).write(file());
    Terminal.standard().print("Commands call " + name + " now.");
    return Exit.OK;
  }

  @Command(description = "Delete a context.")
  int delete(@Parameters(index = "0", paramLabel = "NAME") String name) {
    Contexts.read(file()).without(name).write(file());
    Terminal.standard().print("Deleted " + name + ".");
    return Exit.OK;
  }

  private static void put(Map<String, String> settings, String name, @Nullable Path file) {
    if (file != null) {
      settings.put(name, file.toAbsolutePath().toString());
    }
  }
}
