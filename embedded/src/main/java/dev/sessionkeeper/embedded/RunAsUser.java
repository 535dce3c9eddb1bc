package dev.sessionkeeper.embedded;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.sessionkeeper.KeeperException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The user under which PostgreSQL runs. PostgreSQL refuses to run as root, so root switches to an
 * unprivileged user, who then owns the folders of the database.
 *
 * <p>If such a user cannot enter the folder, for example below {@code /root}, a user namespace
 * hides from PostgreSQL that it runs as root; the log says so.
 *
 * @param prefix the command before the program
 * @param user the owner of the database's folders; empty if it is the user of this process
 */
record RunAsUser(List<String> prefix, Optional<String> user) {
  private static final Logger log = LoggerFactory.getLogger(RunAsUser.class);

  /**
   * The users to try, in the order of preference; {@code nobody} is last, because other services
   * use it as well.
   */
  private static final List<String> USERS = List.of("keeper", "postgres", "nobody");

  /**
   * Chooses a user that can enter the folder and run the programs.
   *
   * @param folder the data folder
   * @param programs where PostgreSQL's programs are
   */
  static RunAsUser choose(Path folder, Path programs) {
    if (!CurrentUser.isRoot()) {
      return new RunAsUser(List.of(), Optional.empty());
    }
    for (var user : candidates(folder)) {
      if (mayUse(user, folder, programs)) {
        return new RunAsUser(stepDown(user), Optional.of(user));
      }
    }
    if (succeeds(List.of("unshare", "-U", "true"))) {
      log.warn(
          "The embedded PostgreSQL runs with the rights of root: none of the users {} can enter {}."
              + " Choose a folder that they can enter with --data, or start keeper as another user",
          String.join(", ", USERS),
          folder);
      return new RunAsUser(List.of("unshare", "-U"), Optional.empty());
    }
    throw new KeeperException.Misconfigured(
        "PostgreSQL does not run as root, and none of the users "
            + String.join(", ", USERS)
            + " can enter "
            + folder
            + "; choose another folder with --data, start keeper as another user, or set store.url"
            + " to a database of your own");
  }

  List<String> command(Path program, List<String> arguments) {
    var line = new ArrayList<>(prefix);
    line.add(program.toString());
    line.addAll(arguments);
    return line;
  }

  /** Changes the owner of a file or folder, with all of its contents, to the database's user. */
  void handOver(Path path) {
    user.ifPresent(name -> chown(name, path, List.of("chown", "-R", "-h", name)));
  }

  /** Changes the owner of the folder alone to the database's user. */
  void handOverOnly(Path path) {
    user.ifPresent(name -> chown(name, path, List.of("chown", "-h", name)));
  }

  private static void chown(String user, Path path, List<String> command) {
    var line = Stream.concat(command.stream(), Stream.of(path.toString())).toList();
    if (!isOwnedBy(path, user) && !succeeds(line)) {
      throw new KeeperException.Misconfigured(path + " cannot be given to user " + user);
    }
  }

  /** Returns the users to try; the present owner of the database comes first. */
  private static List<String> candidates(Path folder) {
    var database = folder.resolve("postgres");
    if (!Files.exists(database)) {
      return USERS;
    }
    return Stream.concat(ownerOf(database).stream(), USERS.stream())
        .filter(user -> !user.equals("root"))
        .distinct()
        .toList();
  }

  private static boolean mayUse(String user, Path folder, Path programs) {
    // The folder itself changes its owner; all folders above it must let the user through.
    var above = folder.getParent() == null ? folder : folder.getParent();
    return succeeds(as(user, "test", "-x", above.toString()))
        && succeeds(as(user, "test", "-x", programs.resolve("bin/postgres").toString()));
  }

  /**
   * Returns a command that replaces itself by the program, so that the process keeps its id;
   * runuser does not.
   */
  private static List<String> stepDown(String user) {
    return List.of(
        "setpriv",
        "--reuid=" + user,
        "--regid=" + groupOf(user),
        "--clear-groups",
        "--no-new-privs");
  }

  private static String groupOf(String user) {
    try {
      var process = new ProcessBuilder("id", "-g", user).start();
      var group = new String(process.getInputStream().readAllBytes(), US_ASCII).strip();
      return process.waitFor() == 0 ? group : user;
    } catch (IOException e) {
      return user;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return user;
    }
  }

  private static List<String> as(String user, String... command) {
    return Stream.concat(stepDown(user).stream(), Stream.of(command)).toList();
  }

  private static boolean isOwnedBy(Path path, String user) {
    return ownerOf(path).filter(user::equals).isPresent();
  }

  private static Optional<String> ownerOf(Path path) {
    try {
      return Optional.of(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static boolean succeeds(List<String> line) {
    try {
      var process =
          new ProcessBuilder(line)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
