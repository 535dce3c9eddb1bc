package dev.sessionkeeper.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.webhook.TargetGuard.Verdict;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TargetGuardTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "169.253.255.255",
        "192.167.255.255",
        "192.169.0.0",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2a00:1450:4001:82a::200e",
        "64:ff9b::808:808",
        "2002:808:808::1"
      })
  void publicAddressesAreAllowed(String address) throws UnknownHostException {
    assertThat(TargetGuard.publicOnly().check(address))
        .isEqualTo(new Verdict.Allowed(InetAddress.getByName(address)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1",
        "127.255.255.255",
        "127.1",
        "2130706433",
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "169.254.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "198.18.0.1",
        "::1",
        "fe80::1",
        "fec0::1",
        "fc00::1",
        "fdff:ffff::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:192.168.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2002:c0a8:1::1"
      })
  void privateAddressesAreAllowedOnlyWhenSaid(String address) {
    assertThat(TargetGuard.publicOnly().check(address))
        .isInstanceOfSatisfying(
            Verdict.Forbidden.class,
            no -> assertThat(no.reason()).contains(address).contains("allow_private_targets"));
    assertThat(TargetGuard.allowingPrivate().check(address)).isInstanceOf(Verdict.Allowed.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "2852039166",
        "0.0.0.0",
        "0.1.2.3",
        "::",
        "::7f00:1",
        "224.0.0.1",
        "239.255.255.255",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.2.1",
        "198.51.100.7",
        "203.0.113.9",
        "ff02::1",
        "2001:db8::1",
        "2001:0:53aa:64c::1",
        "100::1",
        "4000::1"
      })
  void metadataAndReservedAddressesAreNeverAllowed(String address) {
    assertThat(TargetGuard.publicOnly().check(address)).isInstanceOf(Verdict.Forbidden.class);
    assertThat(TargetGuard.allowingPrivate().check(address)).isInstanceOf(Verdict.Forbidden.class);
  }

  @Test
  void aPrivateAddressBehindAPublicOneIsFound() throws UnknownHostException {
    var mixed =
        new InetAddress[] {InetAddress.getByName("1.1.1.1"), InetAddress.getByName("10.0.0.1")};
    assertThat(TargetGuard.publicOnly().resolvingWith(host -> mixed).check("hooks.example"))
        .isEqualTo(
            new Verdict.Forbidden(
                "The host hooks.example is at 10.0.0.1, a private address; allow_private_targets"
                    + " would allow it"));
  }

  @Test
  void aNameIsLookedUpOnce() throws UnknownHostException {
    var lookups = new AtomicInteger();
    var first = InetAddress.getByName("1.1.1.1");
    var second = InetAddress.getLoopbackAddress();
    var rebinding =
        TargetGuard.publicOnly()
            .resolvingWith(
                host -> new InetAddress[] {lookups.getAndIncrement() == 0 ? first : second});
    assertThat(rebinding.check("rebind.example")).isEqualTo(new Verdict.Allowed(first));
    assertThat(lookups).hasValue(1);
  }

  @Test
  void aNameWithoutAnAddressIsUnknownAndNotForbidden() {
    var none = TargetGuard.publicOnly().resolvingWith(host -> new InetAddress[0]);
    assertThat(none.check("gone.example")).isInstanceOf(Verdict.Unknown.class);
    var fails =
        TargetGuard.publicOnly()
            .resolvingWith(
                host -> {
                  throw new UnknownHostException(host);
                });
    assertThat(fails.check("gone.example"))
        .isEqualTo(new Verdict.Unknown("The host gone.example has no address"));
  }
}
