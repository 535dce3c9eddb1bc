package dev.sessionkeeper.webhook;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/** The kind of an address, by IANA's special-purpose registries (RFC 6890 and successors). */
enum AddressKind {
  PUBLIC,
  /** Loopback, link-local, private networks, carrier-grade NAT, unique local. */
  PRIVATE,
  /** The metadata service, from which cloud machines get their credentials. */
  METADATA,
  /** Unspecified, multicast, broadcast, documentation, future use. */
  RESERVED;

  private record Block(byte[] prefix, int bits, AddressKind kind) {
    boolean holds(byte[] address) {
      if (address.length != prefix.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> bit % 8;
        if ((address[bit / 8] & mask) != (prefix[bit / 8] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  // The first block that contains an address decides.
  private static final List<Block> BLOCKS =
      List.of(
          block("169.254.169.254/32", METADATA),
          block("169.254.170.2/32", METADATA),
          block("169.254.170.23/32", METADATA),
          block("100.100.100.200/32", METADATA),
          block("168.63.129.16/32", METADATA),
          block("192.0.0.192/32", METADATA),
          block("fd00:ec2::254/128", METADATA),
          block("fd00:ec2::23/128", METADATA),
          block("fd20:ce::254/128", METADATA),
          block("0.0.0.0/8", RESERVED),
          block("10.0.0.0/8", PRIVATE),
          block("100.64.0.0/10", PRIVATE),
          block("127.0.0.0/8", PRIVATE),
          block("169.254.0.0/16", PRIVATE),
          block("172.16.0.0/12", PRIVATE),
          block("192.0.0.0/24", RESERVED),
          block("192.0.2.0/24", RESERVED),
          block("192.88.99.0/24", RESERVED),
          block("192.168.0.0/16", PRIVATE),
          block("198.18.0.0/15", PRIVATE),
          block("198.51.100.0/24", RESERVED),
          block("203.0.113.0/24", RESERVED),
          block("224.0.0.0/4", RESERVED),
          block("240.0.0.0/4", RESERVED),
          block("::1/128", PRIVATE),
          block("::/96", RESERVED),
          block("64:ff9b:1::/48", PRIVATE),
          block("100::/64", RESERVED),
          block("2001::/23", RESERVED),
          block("2001:db8::/32", RESERVED),
          block("3fff::/20", RESERVED),
          block("5f00::/16", RESERVED),
          block("fc00::/7", PRIVATE),
          block("fe80::/10", PRIVATE),
          block("fec0::/10", PRIVATE),
          block("ff00::/8", RESERVED));

  private static final Block TRANSLATED = block("64:ff9b::/96", PUBLIC);
  private static final Block SIX_TO_FOUR = block("2002::/16", PUBLIC);
  private static final Block STATELESS = block("::ffff:0:0:0/96", PUBLIC);

  static AddressKind of(InetAddress address) {
    byte[] bytes = withoutDisguise(address).getAddress();
    return BLOCKS.stream()
        .filter(block -> block.holds(bytes))
        .map(Block::kind)
        .findFirst()
        .orElse(bytes.length == 4 || (bytes[0] & 0xe0) == 0x20 ? PUBLIC : RESERVED);
  }

  /**
   * Returns the IPv4 address embedded in an IPv6 one (mapped, translated, NAT64, 6to4), otherwise
   * the address itself.
   */
  private static InetAddress withoutDisguise(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address) {
      return address;
    }
    if (isMapped(bytes) || TRANSLATED.holds(bytes) || STATELESS.holds(bytes)) {
      return fromBytes(Arrays.copyOfRange(bytes, 12, 16));
    }
    return SIX_TO_FOUR.holds(bytes) ? fromBytes(Arrays.copyOfRange(bytes, 2, 6)) : address;
  }

  private static boolean isMapped(byte[] bytes) {
    for (int i = 0; i < 10; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return bytes[10] == -1 && bytes[11] == -1;
  }

  private static Block block(String text, AddressKind kind) {
    int slash = text.indexOf('/');
    try {
      // A literal address needs no lookup.
      byte[] prefix = InetAddress.getByName(text.substring(0, slash)).getAddress();
      return new Block(prefix, Integer.parseInt(text.substring(slash + 1)), kind);
    } catch (UnknownHostException e) {
      throw new AssertionError(text, e);
    }
  }

  private static InetAddress fromBytes(byte[] address) {
    try {
      return InetAddress.getByAddress(address);
    } catch (UnknownHostException e) {
      throw new AssertionError("Four bytes are an address", e);
    }
  }
}
