package dev.sessionkeeper.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.security.SecurityConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeeperConfigTest {
  @TempDir Path folder;

  private KeeperConfig read(
      String yaml, Map<String, String> environment, Map<String, String> flags) {
    return ReadConfig.from(new ConfigSources("keeper.yaml", yaml, folder, environment, flags));
  }

  private KeeperConfig read(String yaml) {
    return read(yaml, Map.of(), Map.of());
  }

  private List<String> errors(String yaml, Map<String, String> environment) {
    var refused =
        catchThrowableOfType(InvalidConfig.class, () -> read(yaml, environment, Map.of()));
    assertThat(refused).isNotNull();
    return refused.errors().stream().map(ConfigError::toString).toList();
  }

  @Test
  void withoutAFileEverythingHasADefault() {
    var server = read("").get(ServerConfig.SECTION);
    assertThat(server.host()).isEqualTo("127.0.0.1");
    assertThat(server.port()).isEqualTo(8080);
    assertThat(server.drainTimeout()).isEqualTo(Duration.ofSeconds(30));
    assertThat(read("").get(StoreConfig.SECTION).url()).isEqualTo("embedded");
    assertThat(read("").get(SecurityConfig.SECTION).isClosed()).isFalse();
  }

  @Test
  void allErrorsAreListedWithTheirPlaces() {
    assertThat(
            errors(
                """
                server:
                  prot: 8080
                  host: 5
                  drain_timeout: 30
                store: { url: oracle, pool_size: 1.5 }
                surprise: 1
                security:
                  keys:
                    - { name: ops, sha256: abc, roles: [boss] }
                    - { roles: [] }
                """,
                Map.of()))
        .containsExactlyInAnyOrder(
            "keeper.yaml:2:3: server.prot is not known here; did you mean port?",
            "keeper.yaml:3:3: server.host must be text, was a number",
            "keeper.yaml:4:3: server.drain_timeout must be a duration with its unit such as 5s or"
                + " PT5S, was a number",
            "keeper.yaml:5:10: store.url must be embedded, memory or a URL that begins with"
                + " jdbc:postgresql:",
            "keeper.yaml:5:23: store.pool_size must be a whole number from 2 to 500, was 1.5",
            "keeper.yaml:6:1: surprise is not known here",
            "keeper.yaml:9:20: security.keys[0].sha256 must be the SHA-256 of the key, 64"
                + " hexadecimal digits",
            "keeper.yaml:9:41: security.keys[0].roles[0] must be one of read, send, consume,"
                + " operate, admin, was boss",
            "keeper.yaml:10:7: security.keys[1].name is missing",
            "keeper.yaml:10:7: security.keys[1].sha256 is missing",
            "keeper.yaml:10:9: security.keys[1].roles must have 1 to 10 items, had 0");
  }

  @Test
  void brokenYamlNamesThePlace() {
    assertThat(errors("server: {\n  port: [1\n", Map.of()))
        .singleElement()
        .asString()
        .startsWith("keeper.yaml:3:1: the file is not YAML");
    assertThat(errors("server: 1\nserver: { port: 1 }", Map.of()))
        .anyMatch(error -> error.equals("keeper.yaml:2:1: server is given twice"));
    assertThat(errors("- a", Map.of()))
        .containsExactly("keeper.yaml:1:1: the file must be a map of keys");
  }

  @Test
  void theEnvironmentGoesBeforeTheFileAndAFlagBeforeBoth() {
    var yaml = "server: { port: 1, host: localhost }";
    var environment = Map.of("KEEPER_SERVER_PORT", "2", "KEEPER_CHECK", "not ours");
    assertThat(read(yaml, environment, Map.of()).get(ServerConfig.SECTION).port()).isEqualTo(2);
    var flagged = read(yaml, environment, Map.of("server.port", "3")).get(ServerConfig.SECTION);
    assertThat(flagged.port()).isEqualTo(3);
    assertThat(flagged.host()).isEqualTo("localhost");
  }

  @Test
  void aBadVariableIsNamed() {
    assertThat(errors("", Map.of("KEEPER_SERVER_PORT", "many")))
        .containsExactly(
            "KEEPER_SERVER_PORT: server.port must be a whole number from 0 to 65535, was many");
  }

  @Test
  void secretsComeFromElsewhereAndNeverPrint() throws IOException {
    Files.writeString(folder.resolve("password"), "from a file\n");
    var config = read("store: { password: 'file:password' }");
    var password = config.get(StoreConfig.SECTION).password().orElseThrow();
    assertThat(password.reveal()).isEqualTo("from a file");
    assertThat(config.get(StoreConfig.SECTION).toString()).doesNotContain("from a file");
    assertThat(config.warnings()).isEmpty();

    var variable = read("store: { password: 'env:PW' }", Map.of("PW", "hidden"), Map.of());
    assertThat(variable.get(StoreConfig.SECTION).password().orElseThrow().reveal())
        .isEqualTo("hidden");

    assertThat(read("store: { password: literal }").warnings()).hasSize(1);
    assertThat(errors("store: { password: 'env:NONE' }", Map.of()))
        .containsExactly(
            "keeper.yaml:1:10: store.password names the environment variable NONE, which is not"
                + " set");
    assertThat(errors("store: { password: 'file:none' }", Map.of()))
        .singleElement()
        .asString()
        .contains("cannot be read");
  }
}
