package dev.sessionkeeper.store;

/**
 * The person or program behind an act, for the audit log.
 *
 * @param name the name of the credential, {@code local} on an open server, or the part of the
 *     product
 * @param source the network address of the caller; blank if there is none
 * @param reason why, in the person's own words; blank if none was given
 */
public record Actor(String name, String source, String reason) {
  /** The name of callers of an open server, which have no credential. */
  public static final String LOCAL = "local";

  /** Creates an actor without a reason. */
  public Actor(String name, String source) {
    this(name, source, "");
  }

  /** Returns the same actor with a reason for its act. */
  public Actor because(String why) {
    return new Actor(name, source, why);
  }

  /** Returns an actor inside this process, without a network address. */
  public static Actor of(String name) {
    return new Actor(name, "");
  }

  @Override
  public String toString() {
    return source.isEmpty() ? name : name + " from " + source;
  }
}
