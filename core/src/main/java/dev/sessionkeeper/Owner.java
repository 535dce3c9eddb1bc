package dev.sessionkeeper;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;

/**
 * The holder of a lease: a name for operators, 1 to 128 characters. The epoch, not the name, tells
 * two holders apart.
 */
public record Owner(String name) {
  private static final int MAX_HOST = 64;

  public Owner {
    if (name.isBlank() || name.length() > 128 || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "An owner's name has 1 to 128 characters, none of them a control character, was "
              + Quoted.of(name));
    }
  }

  public static Owner of(String name) {
    return new Owner(name);
  }

  /** Creates a unique owner name: the prefix and a random part. */
  public static Owner unique(String prefix) {
    return new Owner(prefix + "-" + UUID.randomUUID().toString().substring(0, 8));
  }

  /**
   * Creates an owner name that no other process has: the prefix, the host, the process id and a
   * random part.
   */
  public static Owner ofProcess(String prefix) {
    var host = host();
    return unique(
        prefix
            + "-"
            + host.substring(0, Math.min(host.length(), MAX_HOST))
            + "-"
            + ProcessHandle.current().pid());
  }

  private static String host() {
    try {
      var name = InetAddress.getLocalHost().getHostName();
      return name.isBlank() ? "localhost" : name;
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
