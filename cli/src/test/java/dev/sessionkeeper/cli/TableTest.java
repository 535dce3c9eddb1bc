package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/** The output for people, and the output for scripts. */
class TableTest {
  private static final Instant NOW = Instant.parse("2026-11-18T12:00:00Z");
  private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

  private static String render(boolean isTerminal) {
    var rows =
        JsonMapper.builder()
            .build()
            .readTree(
                """
                [{"sessionId": "a", "status": "parked", "blockedSince": "2026-11-18T11:57:00.000000Z"},
                 {"sessionId": "b", "status": "ready"}]
                """);
    return Table.of("sessionId", "status", "blockedSince")
        .render(rows, new Terminal(NOWHERE, NOWHERE, isTerminal), NOW);
  }

  @Test
  void aScriptGetsTimesAndNoColours() {
    assertThat(render(false))
        .contains("2026-11-18T11:57:00.000000Z")
        .doesNotContain("\u001b")
        .contains("a           parked  ");
  }

  @Test
  void aPersonSeesRelativeTimesAndColouredStatesInAlignedColumns() {
    assertThat(render(true))
        .contains("a           \u001b[31mparked\u001b[0m  3m ago")
        .contains("b           \u001b[32mready\u001b[0m   -");
  }

  @Test
  void aPersonSeesNoColumnWithoutAValueAndAScriptSeesThemAll() {
    var rows =
        JsonMapper.builder()
            .build()
            .readTree("[{\"name\": \"a\", \"tenant\": null, \"queues\": []}]");
    var table = Table.of("name", "tenant", "queues", "reason");
    assertThat(table.render(rows, new Terminal(NOWHERE, NOWHERE, true), NOW)).isEqualTo("NAME\na");
    assertThat(table.render(rows, new Terminal(NOWHERE, NOWHERE, false), NOW))
        .isEqualTo("NAME  TENANT  QUEUES  REASON\na     -       -       -");
  }

  @Test
  void onlyTheLastColumnIsShownInFull() {
    var text = "word ".repeat(20).strip();
    var rows =
        JsonMapper.builder()
            .build()
            .readTree("[{\"reason\": \"%1$s\", \"text\": \"%1$s\\n  and more\"}]".formatted(text));
    assertThat(Table.of("reason", "text").render(rows, new Terminal(NOWHERE, NOWHERE, false), NOW))
        .contains(text.substring(0, 59) + "…  " + text + " and more");
  }

  @Test
  void whatIsRedrawnFitsTheScreenAndDoesNotWrap() {
    var drawn = new ByteArrayOutputStream();
    var screen = new PrintStream(drawn, true, StandardCharsets.UTF_8);
    var terminal = new Terminal(screen, screen, true, () -> 10);
    var many = IntStream.range(0, 12).mapToObj(Integer::toString).collect(Collectors.joining("\n"));
    terminal.draw(many, true);
    assertThat(drawn.toString(StandardCharsets.UTF_8))
        .isEqualTo("\u001b[?7l0\n1\n2\n3\n4\n5\n6\n7\n… and 4 more\n\u001b[?7h");
    drawn.reset();
    terminal.draw("one", true);
    assertThat(drawn.toString(StandardCharsets.UTF_8))
        .isEqualTo("\u001b[1A\u001b[2K".repeat(9) + "\u001b[?7lone\n\u001b[?7h");
  }

  @Test
  void aListOfWordsIsShownAsPeopleWriteIt() {
    var rows = JsonMapper.builder().build().readTree("[{\"roles\": [\"read\", \"send\"]}]");
    assertThat(Table.of("roles").render(rows, new Terminal(NOWHERE, NOWHERE, false), NOW))
        .isEqualTo("ROLES\nread, send");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-18T11:59:59Z, 1s ago",
    "2026-11-18T11:00:00Z, 60m ago",
    "2026-11-17T11:00:00Z, 25h ago",
    "2026-11-01T12:00:00Z, 17d ago",
    "2026-11-18T12:00:30Z, in 30s",
  })
  void timesAreSaidAsPeopleSayThem(Instant at, String said) {
    assertThat(RelativeTime.of(at, NOW)).isEqualTo(said);
  }
}
