package dev.sessionkeeper.cli;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Adds {@code --help} and an example to every command. */
final class Examples {
  private static final Map<String, String> BY_COMMAND =
      Map.ofEntries(
          entry("keeper", "keeper serve"),
          entry("keeper serve", "keeper serve --config keeper.yaml --port 8080"),
          entry("keeper demo", "keeper demo --sessions 60 --consumers 6"),
          entry("keeper demo github", "keeper demo github --pulls 60"),
          entry("keeper check", "keeper check keeper.yaml --connect"),
          entry("keeper reload", "keeper reload"),
          entry("keeper queues", "keeper queues -o json"),
          entry("keeper queues create", "keeper queues create orders --lock-duration 5m"),
          entry("keeper queues show", "keeper queues show orders"),
          entry("keeper queues purge", "keeper queues purge orders"),
          entry("keeper queues delete", "keeper queues delete orders --yes"),
          entry("keeper send", "keeper send orders --session cust-42 '{\"item\":\"tea\"}'"),
          entry("keeper sessions", "keeper sessions orders --status parked"),
          entry("keeper sessions show", "keeper sessions show orders cust-42"),
          entry("keeper sessions pause", "keeper sessions pause orders cust-42 -r 'bad data'"),
          entry("keeper sessions resume", "keeper sessions resume orders cust-42"),
          entry("keeper sessions park", "keeper sessions park orders cust-42 -r 'bad data'"),
          entry("keeper sessions release", "keeper sessions release orders cust-42"),
          entry(
              "keeper sessions dead-letter-head",
              "keeper sessions dead-letter-head orders cust-42 -r 'cannot be parsed'"),
          entry(
              "keeper sessions dead-letter-all",
              "keeper sessions dead-letter-all orders cust-42 -r 'account closed'"),
          entry("keeper dead-letters", "keeper dead-letters list orders"),
          entry("keeper dead-letters list", "keeper dead-letters list orders --session cust-42"),
          entry("keeper dead-letters show", "keeper dead-letters show orders 17"),
          entry("keeper dead-letters causes", "keeper dead-letters causes orders"),
          entry(
              "keeper dead-letters repair",
              "keeper dead-letters repair orders 17 --file fixed.json -r 'a comma in the amount'"
                  + " --replay"),
          entry("keeper dead-letters discard", "keeper dead-letters discard orders 17 18"),
          entry("keeper dead-letters replay", "keeper dead-letters replay orders --all --dry-run"),
          entry("keeper bulk", "keeper bulk resume orders --status parked -r 'fixed in 1.2'"),
          entry(
              "keeper bulk resume", "keeper bulk resume orders --status parked -r 'fixed in 1.2'"),
          entry("keeper bulk pause", "keeper bulk pause orders --prefix tenant-7/"),
          entry("keeper bulk park", "keeper bulk park orders --prefix tenant-7/"),
          entry("keeper bulk release", "keeper bulk release orders --status held"),
          entry(
              "keeper bulk dead-letter-all",
              "keeper bulk dead-letter-all orders --prefix tenant-7/"),
          entry("keeper bulk replay", "keeper bulk replay orders --error timeout -r 'it is back'"),
          entry(
              "keeper bulk replay-events",
              "keeper bulk replay-events --bot reviewer --from 2026-01-31T12:00:00Z -r 'it was down'"),
          entry("keeper bulk discard", "keeper bulk discard orders --session cust-42"),
          entry("keeper bulk list", "keeper bulk list"),
          entry("keeper bulk show", "keeper bulk show 0198c0de-0000-4000-8000-000000000001"),
          entry("keeper bulk stop", "keeper bulk stop 0198c0de-0000-4000-8000-000000000001"),
          entry("keeper audit export", "keeper audit export --file audit.ndjson"),
          entry("keeper audit verify", "keeper audit verify audit.ndjson"),
          entry("keeper keys", "keeper keys"),
          entry("keeper keys list", "keeper keys list -o json"),
          entry("keeper keys create", "keeper keys create worker --role consume --expires 90d"),
          entry("keeper keys revoke", "keeper keys revoke worker"),
          entry(
              "keeper erase-user",
              "keeper erase-user 6f9619ff-8b86-d011-b42d-00c04fc964ff -r 'request 17'"),
          entry("keeper support-bundle", "keeper support-bundle --file bundle.zip"),
          entry("keeper backup", "keeper backup backup.zip --data ./data"),
          entry("keeper restore", "keeper restore backup.zip --data ./data"),
          entry("keeper context", "keeper context"),
          entry(
              "keeper context set",
              "keeper context set prod --url https://keeper.example --key-file ~/.keeper.key"),
          entry("keeper context list", "keeper context list"),
          entry("keeper context use", "keeper context use prod"),
          entry("keeper context delete", "keeper context delete prod"),
          entry("keeper audit", "keeper audit --target orders/cust-42"),
          entry("keeper top", "keeper top"),
          entry("keeper events", "keeper events list --bot reviewer"),
          entry("keeper events list", "keeper events list --repository octo/hello"),
          entry("keeper events show", "keeper events show 0198c0de-0000-7000-8000-000000000001"),
          entry("keeper events replay", "keeper events replay --bot reviewer --dry-run"),
          entry(
              "keeper send-github",
              "keeper send-github --event issues.opened --file payload.json --secret s3cret"),
          entry("keeper listen", "keeper listen --to http://localhost:3000/hook"),
          entry("keeper jobs", "keeper jobs"),
          entry("keeper jobs run", "keeper jobs run queue-housekeeping"),
          entry("keeper jobs pause", "keeper jobs pause queue-housekeeping"),
          entry("keeper jobs resume", "keeper jobs resume queue-housekeeping"),
          entry("keeper usage", "keeper usage proof"),
          entry("keeper usage proof", "keeper usage proof -o json"),
          entry("keeper usage batches", "keeper usage batches --state dead"),
          entry("keeper usage replay", "keeper usage replay BATCH"),
          entry("keeper usage release", "keeper usage release"),
          entry("keeper receiver", "keeper receiver --port 9090"),
          entry("keeper bench", "keeper bench --messages 20000 --sessions 200"),
          entry("keeper simulate", "keeper simulate nodes --seed 7 --runs 100"),
          entry("keeper doctor", "keeper doctor --url http://127.0.0.1:8080"),
          entry("keeper queue-names", "keeper queue-names"),
          entry("keeper man-page", "keeper man-page"),
          entry("keeper generate-completion", "source <(keeper generate-completion)"),
          entry("keeper help", "keeper help sessions pause"));

  private Examples() {}

  static Stream<String> all() {
    return BY_COMMAND.values().stream();
  }

  /** Adds both to this command and all of its subcommands. */
  static void addTo(CommandLine line) {
    var spec = line.getCommandSpec();
    if (spec.findOption("--help") == null) {
      spec.addOption(help());
    }
    addExample(spec);
    line.getSubcommands().values().forEach(Examples::addTo);
  }

  private static OptionSpec help() {
    return OptionSpec.builder("-h", "--help")
        .usageHelp(true)
        .description("Show this help and exit.")
        .build();
  }

  static Optional<String> of(CommandSpec spec) {
    return Optional.ofNullable(BY_COMMAND.get(spec.qualifiedName()));
  }

  private static void addExample(CommandSpec spec) {
    // picocli would read a percent sign as a format.
    of(spec)
        .ifPresent(
            example ->
                spec.usageMessage().footer("", "Example:", "  " + example.replace("%", "%%")));
  }
}
