package dev.sessionkeeper.cli;

import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.server.security.ApiKeys;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;

/** Creates, lists and revokes API keys. */
@Command(
    name = "keys",
    description =
        "List the API keys of the store with rights, expiry and last use; or create or revoke one.",
    subcommands = {Keys.ListKeys.class, Keys.Create.class, Keys.Revoke.class})
final class Keys implements Callable<Integer> {
  private static final Table TABLE =
      Table.of(
          "name",
          "prefix",
          "roles",
          "queues",
          "tenant",
          "createdBy",
          "expiresAt",
          "lastUsedAt",
          "revokedAt");

  @Mixin Remote remote = new Remote();

  @Override
  public Integer call() {
    return list(remote);
  }

  private static int list(Remote remote) {
    try (var client = remote.open()) {
      remote.show(
          client.get("/keys", Map.of()),
          "keys",
          TABLE,
          "No keys. Create one: keeper keys create worker --role consume");
      return Exit.OK;
    }
  }

  /** Lists keys, as the command without a subcommand does. */
  @Command(name = "list", description = "List the API keys of the store, revoked ones last.")
  static final class ListKeys implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Override
    public Integer call() {
      return list(remote);
    }
  }

  /** Creates a key. */
  @Command(
      name = "create",
      description = {
        "Create an API key and show it once.",
        "With --for-config no server is called: the output has the lines for security.keys."
      })
  static final class Create implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Parameters(
        index = "0",
        paramLabel = "NAME",
        description = "Shown in lists and in the audit log")
    String name = "";

    @Option(
        names = "--role",
        required = true,
        split = ",",
        description = "read, send, consume, operate or admin; several with commas")
    List<String> roles = List.of();

    @Option(names = "--queue", split = ",", description = "The only queues that the key reaches")
    List<String> queues = List.of();

    @Option(names = "--tenant", description = "The only tenant that the key reaches")
    @Nullable String tenant;

    @Option(
        names = "--expires",
        description = "How long the key is valid, such as 90d. Default: for ever")
    @Nullable String expires;

    @Option(
        names = "--for-config",
        description =
            "Create a key for security.keys of the configuration, for example the first key of a server")
    boolean forConfig;

    @Override
    public Integer call() {
      return forConfig ? printForConfig() : create();
    }

    private int create() {
      var wish = JsonNodeFactory.instance.objectNode().put("name", name);
      roles.forEach(wish.putArray("roles")::add);
      if (!queues.isEmpty()) {
        queues.forEach(wish.putArray("queues")::add);
      }
      if (tenant != null) {
        wish.put("tenant", tenant);
      }
      if (expires != null) {
        wish.put("expiresIn", expires);
      }
      try (var client = remote.open()) {
        var made = client.post("/keys", wish);
        remote.tell(made, made.path("key").asString());
        Terminal.standard().note("Keep it now: no command shows it again.");
        return Exit.OK;
      }
    }

    private int printForConfig() {
      if (expires != null) {
        throw new IllegalArgumentException("--for-config and --expires exclude each other");
      }
      var made = ApiKeys.generate();
      var line =
          new StringBuilder("security: { keys: [ { name: " + name + ", sha256: " + made.sha256());
      line.append(", roles: [").append(String.join(", ", roles)).append(']');
      if (!queues.isEmpty()) {
        line.append(", queues: [").append(String.join(", ", queues)).append(']');
      }
      if (tenant != null) {
        line.append(", tenant: ").append(tenant);
      }
      var yaml = line.append(" } ] }").toString();
      var answer = JsonNodeFactory.instance.objectNode().put("key", made.key()).put("yaml", yaml);
      remote.tell(answer, made.key() + "\n" + yaml);
      Terminal.standard()
          .note("The first line is the key, for its user; the second one is for keeper.yaml.");
      return Exit.OK;
    }
  }

  /** Revokes a key. */
  @Command(
      name = "revoke",
      description = "Revoke an API key; every server refuses it within seconds.")
  static final class Revoke implements Callable<Integer> {
    @Mixin Remote remote = new Remote();
    @Mixin Confirm confirm = new Confirm();

    @Parameters(index = "0", paramLabel = "KEY", description = "Its name or prefix")
    String key = "";

    @Override
    public Integer call() {
      if (!confirm.ask("revoke the API key " + key)) {
        return Exit.FAILED;
      }
      try (var client = remote.open()) {
        var gone = client.delete("/keys/" + KeeperClient.encoded(key));
        remote.tell(gone, "Revoked " + gone.path("name").asString() + ".");
        return Exit.OK;
      }
    }
  }
}
