package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;

/** Every command explains itself. */
class HelpTest {

  @TestFactory
  Stream<DynamicTest> everyCommandHasHelpWithAnExample() {
    var paths = new ArrayList<List<String>>();
    collect(Keeper.commandLine(), List.of(), paths);
    assertThat(paths).hasSizeGreaterThanOrEqualTo(40);
    return paths.stream()
        .map(
            path ->
                DynamicTest.dynamicTest("keeper " + String.join(" ", path), () -> explains(path)));
  }

  private static void explains(List<String> path) {
    for (var flag : List.of("--help", "-h")) {
      var shown = Ran.keeper(with(path, flag));
      assertThat(shown.code()).as(shown.err()).isZero();
      assertThat(shown.out())
          .contains("Usage: " + String.join(" ", with(List.of("keeper"), path)))
          .contains("Example")
          .contains("--help");
    }
  }

  @TestFactory
  Stream<DynamicTest> everyExampleIsACommandLineThatIsUnderstood() {
    return Examples.all()
        .map(
            example ->
                DynamicTest.dynamicTest(
                    example, () -> Keeper.commandLine().parseArgs(wordsOf(example))));
  }

  private static String[] wordsOf(String example) {
    var command = example.replaceFirst("^.*?keeper ", "").replaceFirst("\\)$", "");
    var words = new ArrayList<String>();
    var matcher = java.util.regex.Pattern.compile("'([^']*)'|(\\S+)").matcher(command);
    while (matcher.find()) {
      words.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
    }
    return words.toArray(String[]::new);
  }

  @Test
  void helpOfASubcommandIsThatOfTheSubcommand() {
    var shown = Ran.keeper("help", "sessions", "pause");
    assertThat(shown.code()).isZero();
    assertThat(shown.out()).contains("Usage: keeper sessions pause").contains("SESSION");
    assertThat(shown.out()).isEqualTo(Ran.keeper("sessions", "pause", "--help").out());
    assertThat(Ran.keeper("help").out()).contains("Usage: keeper", "sessions");
  }

  @Test
  void everyCommandIsInOneGroupOfTheHelp() {
    var shown =
        Keeper.commandLine().getSubcommands().entrySet().stream()
            .filter(command -> !command.getValue().getCommandSpec().usageMessage().hidden())
            .map(java.util.Map.Entry::getKey)
            .toList();
    assertThat(HelpLayout.GROUPS.values().stream().flatMap(List::stream))
        .containsExactlyInAnyOrderElementsOf(shown);
    assertThat(Ran.keeper("--help").out())
        .contains("\nQueues\n  queues               List queues")
        .doesNotContainPattern("(?m)^.{81}");
  }

  @Test
  void theOptionsOfACommandComeBeforeThoseOfTheServer() {
    assertThat(Ran.keeper("sessions", "--help").out())
        .startsWith("Usage: keeper sessions [OPTIONS] [QUEUE] [COMMAND]\n")
        .containsSubsequence("--limit=N", "--status=STATUS", "The server to call:", "--url=URL,…")
        .doesNotContain("<");
    assertThat(Ran.keeper("context", "set", "--help").out())
        .contains("--url=URL", "--key-file=FILE")
        .doesNotContain("The server to call");
  }

  @Test
  void aWrongCommandLineIsOneLineThatSaysWhatWasMeantAndWhereToLook() {
    assertThat(Ran.keeper("sesions", "orders").err())
        .isEqualTo(
            "keeper: There is no command 'sesions'. Did you mean keeper sessions or keeper send?"
                + " See: keeper --help\n");
    assertThat(Ran.keeper("sessions", "orders", "--sttus", "held").err())
        .isEqualTo(
            "keeper: There is no option --sttus. Did you mean --status? See: keeper sessions"
                + " --help\n");
    assertThat(Ran.keeper("reload", "now").err())
        .isEqualTo("keeper: 'now' is one argument too many. See: keeper reload --help\n");
    assertThat(Ran.keeper("send").err())
        .isEqualTo("keeper: Missing required parameter: 'QUEUE'. See: keeper send --help\n");
  }

  @Test
  void helpOfAnUnknownCommandIsAWrongCommandLine() {
    var refused = Ran.keeper("help", "sessions", "explode");
    assertThat(refused.code()).isEqualTo(Exit.USAGE);
    assertThat(refused.err()).contains("There is no command 'sessions explode'");
  }

  private static void collect(CommandLine line, List<String> path, List<List<String>> into) {
    into.add(path);
    line.getSubcommands().forEach((name, sub) -> collect(sub, List.of(with(path, name)), into));
  }

  private static String[] with(List<String> path, String last) {
    return with(path, List.of(last));
  }

  private static String[] with(List<String> path, List<String> more) {
    return Stream.concat(path.stream(), more.stream()).toArray(String[]::new);
  }
}
