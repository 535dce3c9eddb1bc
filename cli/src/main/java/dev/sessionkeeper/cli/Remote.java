package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The options of every command that calls a server: its address, the credential, and the output
 * format.
 */
final class Remote {
  private static final JsonMapper PRETTY =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          .build();

  private static final URI USUAL = URI.create("http://127.0.0.1:8080");

  enum Format {
    text,
    json
  }

  @Option(
      names = {"-u", "--url"},
      split = ",",
      converter = Address.class,
      paramLabel = "URL",
      description =
          "The server's address, or several of one store with commas between them."
              + " Default: $KEEPER_URL, else that of the context, else http://127.0.0.1:8080")
  @Nullable List<URI> urls;

  @Option(
      names = "--context",
      paramLabel = "NAME",
      defaultValue = "${env:KEEPER_CONTEXT}",
      description =
          "A named server; see keeper context. Default: $KEEPER_CONTEXT, otherwise the current"
              + " one")
  @Nullable String context;

  @Option(
      names = "--key",
      description =
          "The API key, visible to other users of this machine: prefer --key-file or"
              + " KEEPER_API_KEY. Default: $KEEPER_API_KEY")
  @Nullable String key;

  @Option(names = "--key-file", paramLabel = "FILE", description = "A file that holds the API key")
  @Nullable Path keyFile;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      defaultValue = "${env:KEEPER_CA}",
      description =
          "PEM file of the authority that signed the server's certificate. Default: $KEEPER_CA")
  @Nullable Path authority;

  @Option(
      names = "--cert",
      paramLabel = "FILE",
      defaultValue = "${env:KEEPER_CERT}",
      description = "PEM file of the certificate to show to the server. Default: $KEEPER_CERT")
  @Nullable Path certificate;

  @Option(
      names = "--cert-key",
      paramLabel = "FILE",
      defaultValue = "${env:KEEPER_CERT_KEY}",
      description = "PEM file of that certificate's private key. Default: $KEEPER_CERT_KEY")
  @Nullable Path certificateKey;

  @Option(
      names = {"-o", "--output"},
      defaultValue = "text",
      description = "text or json. Default: text")
  Format format = Format.text;

  /** Parses an address; refuses one without a scheme with an explanation. */
  static final class Address implements ITypeConverter<URI> {
    @Override
    public URI convert(String text) {
      if (!text.matches("https?://[^/].*")) {
        throw new TypeConversionException(
            "an address begins with http:// or https://, was '"
                + text
                + "'; did you mean http://"
                + text.replaceFirst("^/*", "")
                + " ?");
      }
      try {
        return new URI(text);
      } catch (URISyntaxException e) {
        throw new TypeConversionException("'" + text + "' is no address: " + e.getReason());
      }
    }
  }

  KeeperClient open() {
    if (key != null) {
      Terminal.standard()
          .note(
              "Warning: --key is visible to other users of this machine; use KEEPER_API_KEY or"
                  + " --key-file");
    }
    var servers = servers();
    var client =
        tls()
            .map(certificates -> KeeperClient.of(servers, certificates))
            .orElseGet(() -> KeeperClient.of(servers));
    return credential().map(client::withApiKey).orElse(client);
  }

  /** Returns the addresses: from the option, the environment, the context, or the default. */
  List<URI> servers() {
    if (urls != null) {
      return urls;
    }
    return variable("KEEPER_URL")
        .map(text -> addresses("KEEPER_URL", text))
        .or(() -> setting("url").map(text -> addresses("The context", text)))
        .orElse(List.of(USUAL));
  }

  private static List<URI> addresses(String where, String text) {
    try {
      return Arrays.stream(text.split(",", -1)).map(new Address()::convert).toList();
    } catch (TypeConversionException e) {
      throw new IllegalArgumentException(where + ": " + e.getMessage(), e);
    }
  }

  /** Returns a variable of the environment; one that is set to nothing is not set. */
  private static Optional<String> variable(String name) {
    return Optional.ofNullable(System.getenv(name)).filter(text -> !text.isEmpty());
  }

  /**
   * Returns a setting of the context; empty if the address was given otherwise, because the context
   * then does not apply.
   */
  private Optional<String> setting(String name) {
    return Contexts.read(Contexts.file(System.getenv()))
        .chosen(Optional.ofNullable(context).filter(word -> !word.isEmpty()))
        .map(settings -> settings.get(name));
  }

  /** Returns the options of a command that calls a server; empty if it calls none. */
  static Optional<Remote> find(CommandSpec command) {
    if (command.userObject() instanceof Remote remote) {
      return Optional.of(remote);
    }
    return command.mixins().values().stream().flatMap(mixin -> find(mixin).stream()).findFirst();
  }

  /**
   * Says that a context chose the server, and how to choose another; empty if an option or the
   * environment named it. A saved context works without being seen, so failures name it.
   */
  Optional<String> chosenBy() {
    if (isAddressGiven() || setting("url").isEmpty()) {
      return Optional.empty();
    }
    var file = Contexts.file(System.getenv());
    var name =
        Optional.ofNullable(context)
            .filter(word -> !word.isEmpty())
            .orElseGet(() -> Contexts.read(file).current());
    return Optional.of(
        "The context "
            + name
            + " of "
            + file
            + " chose the server "
            + setting("url").orElseThrow()
            + ". Choose another with --url, or with: "
            + Keeper.command()
            + " context use NAME");
  }

  private boolean isAddressGiven() {
    return urls != null || variable("KEEPER_URL").isPresent();
  }

  /** Returns a file: from the option or the environment, otherwise from the context. */
  private Optional<Path> file(@Nullable Path named, String setting) {
    // A variable that is set to nothing is not set.
    var given = named == null || named.toString().isEmpty() ? null : named;
    if (given != null || (isAddressGiven() && context == null)) {
      return Optional.ofNullable(given);
    }
    return setting(setting).map(Path::of);
  }

  /** Returns the certificates to use; empty if Java's default suffices. */
  Optional<SSLContext> tls() {
    return new ClientTls(
            file(authority, "ca"), file(certificate, "cert"), file(certificateKey, "certKey"))
        .context();
  }

  /** Returns when the certificate of the server ends; empty if it speaks no TLS. */
  Optional<Instant> certificateEnds() {
    return servers().stream()
        .filter(server -> "https".equals(server.getScheme()))
        .findFirst()
        .flatMap(server -> PeerCertificate.end(server, tls()));
  }

  /** Returns the API key: from an option, a file, or the environment; empty if there is none. */
  Optional<String> credential() {
    if (key != null && keyFile != null) {
      throw new IllegalArgumentException("--key and --key-file exclude each other");
    }
    if (keyFile != null) {
      return contents(keyFile);
    }
    return Optional.ofNullable(key == null ? System.getenv("KEEPER_API_KEY") : key)
        .filter(text -> !text.isEmpty())
        .or(() -> file(null, "keyFile").flatMap(Remote::contents));
  }

  private static Optional<String> contents(Path file) {
    try {
      return Optional.of(Files.readString(file).strip()).filter(text -> !text.isEmpty());
    } catch (IOException e) {
      throw new IllegalArgumentException("--key-file " + file + " cannot be read", e);
    }
  }

  /** Returns the environment that a child process needs to reach the same server. */
  Map<String, String> environment() {
    var variables = new LinkedHashMap<String, String>();
    credential().ifPresent(word -> variables.put("KEEPER_API_KEY", word));
    file(authority, "ca").ifPresent(path -> put(variables, "KEEPER_CA", path));
    file(certificate, "cert").ifPresent(path -> put(variables, "KEEPER_CERT", path));
    file(certificateKey, "certKey").ifPresent(path -> put(variables, "KEEPER_CERT_KEY", path));
    return variables;
  }

  private static void put(Map<String, String> variables, String name, Path file) {
    variables.put(name, file.toAbsolutePath().toString());
  }

  /** Prints a page: its items as a table, or the whole answer as JSON. */
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

  /** Prints one answer: a sentence, or JSON. */
  void tell(JsonNode answer, String sentence) {
    Terminal.standard().print(format == Format.json ? PRETTY.writeValueAsString(answer) : sentence);
  }

  /** Returns the query parameters, without those that were not given. */
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
