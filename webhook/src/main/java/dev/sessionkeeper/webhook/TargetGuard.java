package dev.sessionkeeper.webhook;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/**
 * Decides whether a host may be called, and at which address.
 *
 * <p>The name is resolved once, and the caller connects to the returned address, because a second
 * lookup could return another one. A name with several addresses is refused if one of them is, so
 * that a public name cannot hide a private address.
 */
public final class TargetGuard {
  /** Resolves names to addresses. */
  @FunctionalInterface
  public interface Resolver {
    InetAddress[] resolve(String host) throws UnknownHostException;
  }

  /** The decision of the guard. */
  public sealed interface Verdict {
    /** Connect to exactly this address. */
    record Allowed(InetAddress address) implements Verdict {}

    /** The address is forbidden. */
    record Forbidden(String reason) implements Verdict {}

    /** The name has no address now, but may have one later. */
    record Unknown(String reason) implements Verdict {}
  }

  private final boolean privateAllowed;
  private final Resolver resolver;

  private TargetGuard(boolean privateAllowed, Resolver resolver) {
    this.privateAllowed = privateAllowed;
    this.resolver = resolver;
  }

  /** Returns a guard that allows public addresses only. */
  public static TargetGuard publicOnly() {
    return new TargetGuard(false, InetAddress::getAllByName);
  }

  /**
   * Returns a guard that also allows private, loopback and link-local addresses. Metadata services,
   * multicast and reserved addresses stay refused, because no receiver uses them.
   */
  public static TargetGuard allowingPrivate() {
    return new TargetGuard(true, InetAddress::getAllByName);
  }

  /** Returns a guard with the same rules and another resolver. */
  public TargetGuard resolvingWith(Resolver other) {
    return new TargetGuard(privateAllowed, other);
  }

  /** Resolves the host and checks every address it has. */
  public Verdict check(String host) {
    InetAddress[] addresses;
    try {
      addresses = resolver.resolve(host);
    } catch (UnknownHostException e) {
      addresses = new InetAddress[0];
    }
    if (addresses.length == 0) {
      return new Verdict.Unknown("The host " + host + " has no address");
    }
    for (var address : addresses) {
      var objection = objectionTo(address);
      if (objection.isPresent()) {
        return new Verdict.Forbidden(
            "The host " + host + " is at " + address.getHostAddress() + ", " + objection.get());
      }
    }
    return new Verdict.Allowed(addresses[0]);
  }

  private Optional<String> objectionTo(InetAddress address) {
    return switch (AddressKind.of(address)) {
      case PUBLIC -> Optional.empty();
      case PRIVATE ->
          privateAllowed
              ? Optional.empty()
              : Optional.of("a private address; allow_private_targets would allow it");
      case METADATA -> Optional.of("a metadata service, which is never called");
      case RESERVED -> Optional.of("an address no receiver can have");
    };
  }
}
