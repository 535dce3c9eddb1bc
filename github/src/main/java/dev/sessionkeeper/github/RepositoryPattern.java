package dev.sessionkeeper.github;

import java.util.regex.Pattern;

/**
 * Selects repositories, or with {@code !} before it excludes them: {@code owner/name}, where {@code
 * *} is any part of owner or name and {@code ?} any one character; {@code *} alone is every
 * repository. Case is ignored, as on GitHub.
 */
record RepositoryPattern(String text, boolean excludes, Pattern regex) {
  private static final Pattern FORM = Pattern.compile("!?(\\*|[^/!\\s]{1,100}/[^/\\s]{1,150})");

  static RepositoryPattern parse(String text) {
    if (!FORM.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "must be owner/name or *, with * and ? as wildcards and ! before it to exclude");
    }
    boolean excludes = text.startsWith("!");
    var glob = excludes ? text.substring(1) : text;
    var regex = new StringBuilder();
    if (glob.equals("*")) {
      regex.append(".*");
    } else {
      // Adjacent stars are merged, because many of them would make matching slow.
      glob.replaceAll("\\*+", "*").codePoints().forEach(c -> regex.append(translated(c)));
    }
    return new RepositoryPattern(
        text,
        excludes,
        Pattern.compile(regex.toString(), Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE));
  }

  boolean matches(RepositoryRef repository) {
    return regex.matcher(repository.fullName()).matches();
  }

  private static String translated(int c) {
    return switch (c) {
      case '*' -> "[^/]*";
      case '?' -> "[^/]";
      default -> Pattern.quote(Character.toString(c));
    };
  }
}
