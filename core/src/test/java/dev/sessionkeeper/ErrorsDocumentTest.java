package dev.sessionkeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that docs/reference/errors.md explains every error that a user can get, and no other. */
class ErrorsDocumentTest {
  private static final Pattern HEADING = Pattern.compile("(?m)^## (SK-\\d{3}) (\\w+)$");

  private static final Pattern ENTRY = Pattern.compile("(?m)^## ");

  private final List<KeeperException> all =
      List.of(
          new KeeperException.Unavailable("it"),
          new KeeperException.Closed("it"),
          new KeeperException.OutcomeUnknown("it", new IOException()),
          new KeeperException.LockLost("it", 1),
          new KeeperException.OutOfOrder(SessionId.of("s"), 1, "why"),
          new KeeperException.StaleState(SessionId.of("s"), 1, 2),
          new KeeperException.LimitExceeded("it", 1, 2),
          new KeeperException.SessionModeMismatch(QueueName.of("q"), QueueMode.ORDERED, "call"),
          new KeeperException.UnknownQueue(QueueName.of("q")),
          new KeeperException.QueueConflict(QueueName.of("q"), QueueMode.ORDERED),
          new KeeperException.Rejected("why"),
          new KeeperException.InvalidCursor("c"),
          new KeeperException.Overloaded("it", Duration.ZERO),
          new KeeperException.NotSupported("p", "it"),
          new KeeperException.Misconfigured("it"));

  @Test
  void theListAboveHasEveryErrorOfTheFamily() {
    assertThat(all.stream().map(Object::getClass).distinct().toList())
        .hasSameSizeAs(KeeperException.class.getPermittedSubclasses())
        .allMatch(type -> Modifier.isFinal(type.getModifiers()));
  }

  @Test
  void everyCodeHasAnEntryAndEveryEntryACode() throws IOException {
    var expected =
        all.stream().map(e -> e.code() + " " + e.getClass().getSimpleName()).distinct().toList();

    assertThat(entriesIn(Files.readString(document()))).containsExactlyElementsOf(expected);
  }

  @Test
  void everyEntryTellsWhatToDo() throws IOException {
    for (var entry : ENTRY.splitAsStream(Files.readString(document())).toList()) {
      if (entry.startsWith("SK-")) {
        assertThat(entry).contains("**What happened**").contains("**What to do**");
      }
    }
  }

  @Test
  void aMissingEntryWouldBeSeen() {
    assertThat(entriesIn("# Errors\n\n## SK-101 Unavailable\n"))
        .containsExactly("SK-101 Unavailable");
    assertThat(entriesIn("## SK-1 Nothing\n")).isEmpty();
  }

  private static List<String> entriesIn(String text) {
    var entries = new ArrayList<String>();
    var matcher = HEADING.matcher(text);
    while (matcher.find()) {
      entries.add(matcher.group(1) + " " + matcher.group(2));
    }
    return entries;
  }

  private static Path document() {
    return Path.of("..", "docs", "reference", "errors.md");
  }
}
