package dev.sessionkeeper.documentation;

import java.util.List;
import java.util.Optional;

/**
 * A fenced block of a page.
 *
 * @param language the first word behind the fence; empty if there is none
 * @param words the other words behind the fence
 * @param line the line of the fence, from 1
 * @param isExcluded whether the paragraph before the block says that the build does not run it
 * @param followsBlock whether only blank lines separate this block from the previous one
 * @param needs the program that the block needs, such as {@code python3} or {@code node>=22.18}
 */
record Block(
    String language,
    List<String> words,
    String text,
    int line,
    boolean isExcluded,
    boolean followsBlock,
    Optional<String> needs) {

  /** Returns the name of the file that a reader saves the block as. */
  Optional<String> file() {
    return words.stream().filter(word -> word.contains(".")).findFirst();
  }

  /** Returns whether the block starts a server, for which the reader waits. */
  boolean isServer() {
    return words.contains("server");
  }

  /** Returns whether the block runs in a terminal of its own. */
  boolean isBackground() {
    return isServer() || words.contains("background");
  }
}
