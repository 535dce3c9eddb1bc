package dev.sessionkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ParseEventsTest {

  private static List<ParseEvents.Raw> parse(String text) throws IOException {
    var events = new ArrayList<ParseEvents.Raw>();
    var parser =
        new ParseEvents(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), () -> {});
    for (var event = parser.next(); event.isPresent(); event = parser.next()) {
      events.add(event.get());
    }
    return events;
  }

  @Test
  void anEventHasIdNameAndData() throws IOException {
    assertThat(parse("id: 7\nevent: tick\ndata: {\"n\":1}\n\n"))
        .containsExactly(new ParseEvents.Raw("7", "tick", "{\"n\":1}"));
  }

  @Test
  void linesOfDataAreJoined() throws IOException {
    assertThat(parse("data: a\ndata:\ndata:  b\n\n"))
        .containsExactly(new ParseEvents.Raw("", "message", "a\n\n b"));
  }

  @Test
  void allLineEndsAreUnderstood() throws IOException {
    assertThat(parse("\uFEFFid: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\r"))
        .extracting(ParseEvents.Raw::data)
        .containsExactly("a", "b");
  }

  @Test
  void commentsAndUnknownFieldsAreSkipped() throws IOException {
    assertThat(parse(": heartbeat\n\nretry: 1000\n\nother: x\ndata\n\n"))
        .containsExactly(new ParseEvents.Raw("", "message", ""));
  }

  @Test
  void theIdStaysUntilAnotherComes() throws IOException {
    assertThat(parse("id: 3\ndata: a\n\ndata: b\n\nid: bad\0\ndata: c\n\n"))
        .extracting(ParseEvents.Raw::id)
        .containsExactly("3", "3", "3");
  }

  @Test
  void aHalfEventAtTheEndDoesNotCount() throws IOException {
    assertThat(parse("data: a\n\nid: 9\ndata: b\n")).hasSize(1);
  }

  @Test
  void anEventWithoutDataIsNone() throws IOException {
    assertThat(parse("event: tick\nid: 4\n\ndata: a\n\n"))
        .containsExactly(new ParseEvents.Raw("4", "message", "a"));
  }
}
