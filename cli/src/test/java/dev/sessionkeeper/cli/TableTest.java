package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Instant;
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
