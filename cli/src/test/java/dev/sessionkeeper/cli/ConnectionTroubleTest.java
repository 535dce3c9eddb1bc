package dev.sessionkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.server.KeeperServer;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.security.ApiKeys;
import dev.sessionkeeper.time.TimeSource;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each failure to reach the server has a sentence that says what to do. */
@Tag("slow")
class ConnectionTroubleTest {
  @TempDir Path folder;

  private KeeperServer start(String yaml) throws Exception {
    var file = Files.writeString(folder.resolve("keeper.yaml"), yaml);
    var flags = Map.of("server.port", "0", "store.url", "memory");
    var environment = Map.<String, String>of();
    var sources = ConfigSources.of(Optional.of(file), environment, flags);
    return KeeperServer.start(
        ReadConfig.from(sources),
        () -> ConfigSources.of(Optional.of(file), environment, flags),
        TimeSource.system());
  }

  private static String tls(SelfSigned of, String more) {
    return "server: { tls: { certificate: \"%s\", key: \"%s\"%s } }\n"
        .formatted(of.certificate(), of.key(), more);
  }

  @Test
  void anAuthorityOfOnesOwnIsNamedByAnOption() throws Exception {
    var ours = SelfSigned.create(folder, "ours");
    try (var server = start(tls(ours, ""))) {
      var unknown = run("queues", "--url", server.address());
      assertThat(unknown.code).isEqualTo(Exit.UNAVAILABLE);
      assertThat(unknown.err)
          .contains("Cannot reach " + server.address(), "--ca FILE", "KEEPER_CA")
          .doesNotContain("Is it running");
      assertThat(run("doctor", "--url", server.address()).out).contains("--ca FILE");

      var known = run("queues", "--url", server.address(), "--ca", ours.certificate().toString());
      assertThat(known.code).as(known.err).isZero();
    }
  }

  @Test
  void aCertificateThatEndsIsToldByCheckAndDoctor() throws Exception {
    var fresh = SelfSigned.create(folder, "fresh");
    try (var server = start(tls(fresh, ""))) {
      var good = doctor(server.address(), fresh);
      assertThat(good.code).as(good.out).isZero();
      assertThat(good.out).contains("ok    certificate: ends on ");
    }
    var ending = SelfSigned.create(folder, "ending", "-20d", 25);
    try (var server = start(tls(ending, ""))) {
      var warned = doctor(server.address(), ending);
      assertThat(warned.code).isEqualTo(Exit.FAILED);
      assertThat(warned.out).contains("wrong certificate: ends on ").contains("server.tls");
    }
    var expired = SelfSigned.create(folder, "expired", "-20d", 10);
    try (var server = start(tls(expired, ""))) {
      assertThat(doctor(server.address(), expired).out)
          .contains("wrong certificate: has expired on ");
    }
    var file = Files.writeString(folder.resolve("expired.yaml"), tls(expired, ""));
    assertThat(run("check", file.toString()).err)
        .contains("Warning: The certificate of server.tls has expired on ");
    var freshFile = Files.writeString(folder.resolve("fresh.yaml"), tls(fresh, ""));
    assertThat(run("check", freshFile.toString()).err).doesNotContain("certificate");
  }

  private Result doctor(String address, SelfSigned certificate) throws Exception {
    return run("doctor", "--url", address, "--ca", certificate.certificate().toString());
  }

  @Test
  void theDoctorSaysOnceThatAServerIsNotReached() throws Exception {
    var result = run("doctor", "--url", "http://127.0.0.1:1");
    assertThat(result.code).isEqualTo(Exit.FAILED);
    assertThat(result.out).containsOnlyOnce("Cannot reach").doesNotContain("store");
  }

  @Test
  void aConfigurationThatIsNotThereIsToldApart() throws Exception {
    var none = folder.resolve("none.yaml").toString();
    assertThat(run("check", none).err).contains("none.yaml: the file does not exist");
  }

  @Test
  void aClientCertificateIsShown() throws Exception {
    var ours = SelfSigned.create(folder, "ours");
    var ops = SelfSigned.create(folder, "ops");
    var yaml =
        tls(ours, ", client_authority: \"" + ops.certificate() + "\"")
            + "security: { certificates: [ { subject: \"CN=ops\", roles: [read] } ] }\n";
    try (var server = start(yaml)) {
      var url = server.address();
      var ca = ours.certificate().toString();
      assertThat(run("queues", "--url", url, "--ca", ca).code).isEqualTo(Exit.UNAVAILABLE);
      assertThat(run("queues", "--url", url, "--ca", ca).err).contains("--cert FILE");
      var shown =
          run(
              "queues",
              "--url",
              url,
              "--ca",
              ca,
              "--cert",
              ops.certificate().toString(),
              "--cert-key",
              ops.key().toString());
      assertThat(shown.code).as(shown.err).isZero();
      var mixed =
          run(
              "queues",
              "--url",
              url,
              "--cert",
              ops.certificate().toString(),
              "--cert-key",
              ours.key().toString());
      assertThat(mixed.code).isEqualTo(Exit.USAGE);
      assertThat(mixed.err).contains("--cert-key", "does not fit the certificate");
    }
  }

  @Test
  void theWrongSchemeIsTold() throws Exception {
    try (var plain = start("")) {
      var https = "https://127.0.0.1:" + plain.port();
      assertThat(run("queues", "--url", https).err).contains("without TLS", "http://");
      var sent = run("queues", "create", "q", "--url", https);
      assertThat(sent.code).isEqualTo(Exit.UNAVAILABLE);
      assertThat(sent.err).contains("without TLS").doesNotContain("may or may not");
    }
    try (var secured = start(tls(SelfSigned.create(folder, "ours"), ""))) {
      assertThat(run("queues", "--url", "http://127.0.0.1:" + secured.port()).err)
          .contains("use https://");
    }
  }

  @Test
  void anUnknownHostAndARefusedPortAreToldApart() {
    assertThat(run("queues", "--url", "http://nowhere.invalid:8080").err)
        .contains("Cannot reach http://nowhere.invalid:8080: the host is unknown");
    assertThat(run("queues", "--url", "http://127.0.0.1:1").err)
        .contains("connection refused", "./keeper serve");
  }

  @Test
  void anAddressWithoutSchemeIsRefusedInWords() {
    var refused = run("queues", "--url", "127.0.0.1:8080");
    assertThat(refused.code).isEqualTo(Exit.USAGE);
    assertThat(refused.err).contains("http://127.0.0.1:8080").doesNotContain("Exception");
  }

  @Test
  void aKeyOnTheCommandLineIsWarnedOfAndOneInAFileIsNot() throws Exception {
    var key = ApiKeys.generate();
    var yaml =
        "security: { keys: [ { name: ops, sha256: %s, roles: [admin] } ] }\n"
            .formatted(key.sha256());
    try (var server = start(yaml)) {
      var shown = run("queues", "--url", server.address(), "--key", key.key());
      assertThat(shown.code).isZero();
      assertThat(shown.err).contains("visible to other users", "KEEPER_API_KEY", "--key-file");
      var file = Files.writeString(folder.resolve("key"), key.key() + "\n");
      var hidden = run("queues", "--url", server.address(), "--key-file", file.toString());
      assertThat(hidden.code).as(hidden.err).isZero();
      assertThat(hidden.err).isEmpty();
    }
  }

  @Test
  void aReloadSaysWhatItAppliedAndWhatNeedsARestart() throws Exception {
    try (var server = start("")) {
      Files.writeString(
          folder.resolve("keeper.yaml"), "streams: { max_readers: 9 }\njobs: { lease: 20s }\n");
      assertThat(run("reload", "--url", server.address()).out)
          .contains("Applied: streams.max_readers.", "Needs a restart: jobs.lease.");
    }
  }

  @Test
  void checkRefusesWhatServeRefuses() throws Exception {
    assertThat(check("store: { url: memory }\nbots: [ { name: a, events: [push] } ]\n").err)
        .contains("bots need a database");
    assertThat(check("server: { host: 0.0.0.0 }\n").err)
        .contains("server.host is 0.0.0.0 but security names no keys");
    assertThat(check("queues: { provider: servicebus }\n").err)
        .contains("queues.servicebus.connection_string");
    var ours = SelfSigned.create(folder, "ours");
    var other = SelfSigned.create(folder, "other");
    assertThat(check(tls(new SelfSigned(ours.certificate(), other.key()), "")).err)
        .contains("does not fit the certificate");
    assertThat(check(tls(new SelfSigned(folder.resolve("none.pem"), ours.key()), "")).err)
        .contains("none.pem, which does not exist");
  }

  private Result check(String yaml) throws Exception {
    var file = Files.writeString(folder.resolve("checked.yaml"), yaml);
    var result = run("check", file.toString());
    assertThat(result.code).as(yaml).isEqualTo(Exit.CONFIG);
    return result;
  }

  @Test
  void checkWarnsOfBotsThatGitHubCannotReach() throws Exception {
    var file =
        Files.writeString(folder.resolve("a.yaml"), "bots: [ { name: a, events: [push] } ]\n");
    var result = run("check", file.toString());
    assertThat(result.code).isZero();
    assertThat(result.err).contains("no github.secrets");
  }

  @Test
  void checkTriesTheDatabaseWhereItIsAskedTo() throws Exception {
    var file =
        Files.writeString(
            folder.resolve("a.yaml"), "store: { url: \"jdbc:postgresql://127.0.0.1:1/db\" }\n");
    assertThat(run("check", file.toString()).code).isZero();
    var tried = run("check", "--connect", file.toString());
    assertThat(tried.code).isEqualTo(Exit.UNAVAILABLE);
    assertThat(tried.err).contains("Cannot connect to 127.0.0.1:1: connection refused.");
  }

  private record Result(int code, String out, String err) {}

  private static Result run(String... args) {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    var outBefore = System.out;
    var errBefore = System.err;
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int code = Keeper.run(args);
      return new Result(
          code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
  }
}
