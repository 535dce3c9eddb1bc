package dev.sessionkeeper.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A Markdown page: its blocks, its links and its headings. */
final class Page {
  /** The paragraph before a block that the build cannot run. Readers see it. */
  static final String NOT_RUN = "*Not run by the build";

  /** Stops the server that the page started last. A comment, so readers do not see it. */
  static final String STOP = "<!-- stop -->";

  private static final Pattern NEEDS = Pattern.compile("<!-- needs: (\\S+) -->");
  private static final Pattern LINK = Pattern.compile("(?<!`)\\[[^\\]]*]\\(([^)\\s]+)\\)");
  private static final Pattern SOURCE = Pattern.compile("(?:src|srcset|href)=\"([^\"]+)\"");
  private static final Pattern HEADING = Pattern.compile("^#{1,6} (.+)$");
  private static final Pattern NO_ANCHOR = Pattern.compile("[^\\p{L}\\p{N}\\-_ ]");

  private final Path file;
  private final List<Block> blocks = new ArrayList<>();
  private final List<Object> steps = new ArrayList<>();
  private final List<String> links = new ArrayList<>();
  private final Set<String> anchors = new HashSet<>();

  private Page(Path file) {
    this.file = file;
  }

  static Page read(Path file) {
    try {
      var page = new Page(file.normalize());
      page.parse(Files.readAllLines(file));
      return page;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path file() {
    return file;
  }

  List<Block> blocks() {
    return blocks;
  }

  /** Returns blocks and {@link #STOP} marks, in the order of the page. */
  List<Object> steps() {
    return steps;
  }

  List<String> links() {
    return links;
  }

  /** Returns the anchors of the headings, as GitHub makes them. */
  Set<String> anchors() {
    return anchors;
  }

  @Override
  public String toString() {
    return Manual.ROOT.relativize(file).toString();
  }

  private void parse(List<String> lines) {
    var before = "";
    for (int i = 0; i < lines.size(); i++) {
      var line = lines.get(i);
      if (line.strip().startsWith("```")) {
        int indent = line.indexOf('`');
        int end = i + 1;
        while (!lines.get(end).strip().startsWith("```")) {
          end++;
        }
        var text =
            lines.subList(i + 1, end).stream()
                .map(inside -> inside.isBlank() ? "" : inside.substring(indent))
                .collect(Collectors.joining("\n"));
        var block = block(line.strip(), text, i + 1, before);
        blocks.add(block);
        steps.add(block);
        i = end;
        before = "";
      } else {
        prose(line);
        if (!line.isBlank()) {
          before = line.strip();
        }
      }
    }
  }

  private static Block block(String fence, String text, int line, String before) {
    var words = Arrays.asList(fence.substring(3).strip().split("\\s+"));
    var needs = NEEDS.matcher(before);
    return new Block(
        words.getFirst(),
        words.subList(1, words.size()),
        text,
        line,
        before.startsWith(NOT_RUN),
        before.isEmpty(),
        needs.find() ? Optional.of(needs.group(1)) : Optional.empty());
  }

  private void prose(String line) {
    if (line.strip().equals(STOP)) {
      steps.add(STOP);
    }
    var heading = HEADING.matcher(line);
    if (heading.matches()) {
      anchors.add(anchor(heading.group(1)));
    }
    for (var pattern : List.of(LINK, SOURCE)) {
      var matcher = pattern.matcher(line);
      while (matcher.find()) {
        links.add(matcher.group(1));
      }
    }
  }

  static String anchor(String heading) {
    var text = heading.replaceAll("\\[([^\\]]*)]\\([^)]*\\)", "$1").strip();
    return NO_ANCHOR.matcher(text.toLowerCase(Locale.ROOT)).replaceAll("").replace(' ', '-');
  }
}
