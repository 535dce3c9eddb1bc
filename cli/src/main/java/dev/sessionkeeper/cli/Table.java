package dev.sessionkeeper.cli;

import dev.sessionkeeper.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Formats a list of JSON objects as columns.
 *
 * @param columns header and member, such as {@code "depth"}
 */
record Table(List<String> columns) {
  // Prints numbers as the server wrote them, without exponents.
  private static final JsonMapper PLAIN =
      JsonMapper.builder().enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN).build();
  private static final int WIDEST = 60;
  private static final String NOTHING = "-";
  private static final Set<String> STATES = Set.of("status", "state", "outcome");
  private static final Pattern DURATION = Pattern.compile("PT[0-9HMS.]+");

  static Table of(String... columns) {
    return new Table(List.of(columns));
  }

  /**
   * Returns the table; on a terminal with relative times and coloured states, and without columns
   * in which no row has a value. Scripts get all columns.
   */
  String render(Iterable<JsonNode> rows) {
    return render(rows, Terminal.standard(), TimeSource.system().instant());
  }

  String render(Iterable<JsonNode> rows, Terminal terminal, Instant now) {
    return terminal.isInteractive()
        ? withoutEmptyColumns(rows).aligned(rows, terminal, now)
        : aligned(rows, terminal, now);
  }

  private Table withoutEmptyColumns(Iterable<JsonNode> rows) {
    var filled =
        columns.stream()
            .filter(
                column ->
                    StreamSupport.stream(rows.spliterator(), false)
                        .anyMatch(row -> isShown(cell(row.path(column)))))
            .toList();
    return new Table(filled);
  }

  private static boolean isShown(String cell) {
    return !cell.isBlank() && !cell.equals(NOTHING);
  }

  private String aligned(Iterable<JsonNode> rows, Terminal terminal, Instant now) {
    var lines = new ArrayList<List<String>>();
    lines.add(columns.stream().map(Table::header).toList());
    rows.forEach(row -> lines.add(line(row, terminal, now)));
    var widths = widths(lines);
    return IntStream.range(0, lines.size())
        .mapToObj(i -> aligned(lines.get(i), widths, terminal, i == 0))
        .collect(Collectors.joining("\n"));
  }

  /** Cuts a long text, except in the last column. */
  private List<String> line(JsonNode row, Terminal terminal, Instant now) {
    int last = columns.size() - 1;
    return IntStream.rangeClosed(0, last)
        .mapToObj(
            i -> {
              var text = timed(cell(row.path(columns.get(i))), terminal, now);
              return i == last ? text : cut(text);
            })
        .toList();
  }

  private static String cut(String text) {
    return text.length() <= WIDEST ? text : text.substring(0, WIDEST - 1) + "…";
  }

  private List<Integer> widths(List<List<String>> lines) {
    return IntStream.range(0, columns.size())
        .map(i -> lines.stream().mapToInt(line -> line.get(i).length()).max().orElse(0))
        .boxed()
        .toList();
  }

  private String aligned(
      List<String> line, List<Integer> widths, Terminal terminal, boolean isHeader) {
    return IntStream.range(0, line.size())
        .mapToObj(
            i -> {
              var text = line.get(i);
              var shown =
                  !isHeader && STATES.contains(columns.get(i)) ? terminal.state(text) : text;
              return shown + " ".repeat(widths.get(i) - text.length());
            })
        .collect(Collectors.joining("  "))
        .stripTrailing();
  }

  /** Formats a time: relative on a terminal, absolute for scripts. */
  private static String timed(String text, Terminal terminal, Instant now) {
    return terminal.isInteractive()
        ? RelativeTime.read(text).map(at -> RelativeTime.of(at, now)).orElse(text)
        : text;
  }

  /** Converts {@code oldestAge} to {@code OLDEST AGE}. */
  private static String header(String member) {
    return member.replaceAll("([a-z])([A-Z])", "$1 $2").toUpperCase(Locale.ROOT);
  }

  /** Formats a duration to the second, for people: {@code 1h2m3s}. */
  private static String shortened(String text) {
    return DURATION.matcher(text).matches()
        ? Duration.parse(text)
            .truncatedTo(ChronoUnit.SECONDS)
            .toString()
            .substring(2)
            .toLowerCase(Locale.ROOT)
        : text;
  }

  private static String cell(JsonNode value) {
    return shortened(text(value)).replaceAll("\\s*\\R\\s*", " ");
  }

  /** Formats a list as {@code read, send}; something that is empty as {@value #NOTHING}. */
  private static String text(JsonNode value) {
    if (value.isMissingNode() || value.isNull() || (value.isContainer() && value.isEmpty())) {
      return NOTHING;
    }
    if (value.isArray() && value.valueStream().allMatch(JsonNode::isString)) {
      return value.valueStream().map(JsonNode::asString).collect(Collectors.joining(", "));
    }
    return value.isString() ? value.asString() : PLAIN.writeValueAsString(value);
  }
}
