package dev.sessionkeeper.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Writes a script that completes commands, options and the names of queues. */
@Command(
    name = "generate-completion",
    description = {
      "Write a completion script for bash and zsh; queue names come from the server.",
      "Source it: source <(keeper generate-completion)"
    })
final class Completion implements Callable<Integer> {
  /**
   * Wraps the function that picocli generates, to complete the names of queues where a command
   * takes one.
   */
  private static final String QUEUES =
      """

      function _keeper_queues() {
        local words="${COMP_WORDS[*]:1:COMP_CWORD-1}"
        case "$words" in
          <commands>)
          COMPREPLY=($(compgen -W "$(keeper queue-names 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
          ;;
        *)
          _complete_keeper "$@"
          ;;
        esac
      }
      complete -F _keeper_queues -o default keeper ./keeper
      """;

  @Spec CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    var keeper = spec.root().commandLine();
    var cases =
        String.join("|", takingQueues(keeper, "").stream().map(c -> "\"" + c + "\"").toList());
    Terminal.standard()
        .print(AutoComplete.bash("keeper", keeper) + QUEUES.replace("<commands>", cases));
    return Exit.OK;
  }

  /** Returns the commands whose first argument is a queue, as a user types them. */
  static List<String> takingQueues(CommandLine line, String path) {
    var found = new ArrayList<String>();
    line.getSubcommands()
        .forEach(
            (name, sub) -> {
              var words = path.isEmpty() ? name : path + " " + name;
              boolean takesQueue =
                  sub.getCommandSpec().positionalParameters().stream()
                      .anyMatch(p -> p.index().contains(0) && p.paramLabel().equals("QUEUE"));
              if (takesQueue) {
                found.add(words);
              }
              found.addAll(takingQueues(sub, words));
            });
    return found;
  }

  /** Prints the names for the completion script; nothing if no server answers. */
  @Command(name = "queue-names", hidden = true, description = "Names of queues, for completion.")
  static final class QueueNames implements Callable<Integer> {
    @Mixin Remote remote = new Remote();

    @Override
    public Integer call() {
      try (var client = remote.open()) {
        var names = new ArrayList<String>();
        client
            .get("/queues", Map.of("limit", "1000"))
            .path("queues")
            .forEach(queue -> names.add(queue.path("name").asString()));
        Terminal.standard().print(String.join("\n", names));
        return Exit.OK;
      }
    }
  }
}
