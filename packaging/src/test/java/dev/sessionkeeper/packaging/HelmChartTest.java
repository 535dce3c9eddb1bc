package dev.sessionkeeper.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Renders the Helm chart and parses the result with Kubernetes' own model. */
class HelmChartTest {
  private static final Path CHART = Path.of("helm", "keeper");
  private static final String KEYS =
      """
      config:
        server: { host: 0.0.0.0, port: 8080 }
        security:
          keys:
            - { name: admin, sha256: "%s", roles: [admin] }
      """
          .formatted("ab".repeat(32));

  private final KubernetesSerialization kubernetes = new KubernetesSerialization();
  @TempDir Path folder;

  @Test
  void theChartPassesLint() {
    var result = new Helm(CHART).lint().strict().call();

    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  @Test
  void everyFieldOfEveryObjectIsOneThatKubernetesKnows() throws IOException {
    for (var values : List.of(KEYS, KEYS + EVERYTHING)) {
      for (var object : render(values)) {
        var unknown = new ArrayList<String>();
        collectUnknown(object, object.getKind(), unknown);
        assertThat(unknown).isEmpty();
      }
    }
  }

  @Test
  void theMisspeltFieldOfAnObjectIsFound() {
    var service =
        kubernetes.<HasMetadata>unmarshal(
            """
            apiVersion: v1
            kind: Service
            metadata: { name: x }
            spec: { tpye: ClusterIP }
            """);
    var unknown = new ArrayList<String>();

    collectUnknown(service, "Service", unknown);

    assertThat(unknown).containsExactly("Service.spec.tpye");
  }

  @Test
  void theServerAcceptsTheRenderedConfiguration() throws IOException {
    var map =
        render(KEYS).stream()
            .filter(ConfigMap.class::isInstance)
            .map(ConfigMap.class::cast)
            .findFirst()
            .orElseThrow();
    var file = Files.writeString(folder.resolve("keeper.yaml"), map.getData().get("keeper.yaml"));

    var config = ReadConfig.from(ConfigSources.of(Optional.of(file), Map.of(), Map.of()));

    assertThat(config.warnings()).isEmpty();
  }

  @Test
  void theEmbeddedDatabaseIsAStatefulSetAndAnOwnOneADeployment() throws IOException {
    assertThat(render(KEYS)).extracting(HasMetadata::getKind).contains("StatefulSet");
    assertThat(render(KEYS + EVERYTHING))
        .extracting(HasMetadata::getKind)
        .contains("Deployment", "PodDisruptionBudget", "Ingress")
        .doesNotContain("StatefulSet");
  }

  @Test
  void aServerWithTlsIsScrapedOverTls() throws IOException {
    var monitor = "serviceMonitor: { enabled: true, tlsConfig: { serverName: keeper } }\n";
    assertThat(endpoint(KEYS + monitor)).containsEntry("scheme", "http");
    assertThat(endpoint(KEYS + monitor + "tlsSecret: keeper-tls\n"))
        .containsEntry("scheme", "https")
        .containsEntry("tlsConfig", Map.of("serverName", "keeper"));
  }

  @SuppressWarnings("unchecked") // The model has no type for this kind.
  private Map<String, Object> endpoint(String values) throws IOException {
    return render(values).stream()
        .filter(object -> object.getKind().equals("ServiceMonitor"))
        .map(object -> ((GenericKubernetesResource) object).<Object>get("spec", "endpoints", 0))
        .map(found -> (Map<String, Object>) found)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aServerWithoutCredentialsIsRefused() {
    assertThatThrownBy(() -> render("")).hasMessageContaining("config.security is missing");
  }

  @Test
  void severalReplicasOnTheEmbeddedDatabaseAreRefused() {
    assertThatThrownBy(() -> render(KEYS + "replicas: 2\n"))
        .hasMessageContaining("The embedded database serves one replica");
  }

  private static final String EVERYTHING =
      """
        store: { url: "jdbc:postgresql://db:5432/keeper", user: keeper, password: "env:STORE_PASSWORD" }
      replicas: 3
      secretEnvironment: [keeper-secrets]
      tlsSecret: keeper-tls
      ingress: { enabled: true, className: nginx, host: keeper.example, tlsSecret: web }
      podAnnotations: { team: payments }
      nodeSelector: { disk: ssd }
      tolerations: [{ key: dedicated, operator: Exists }]
      """;

  private List<HasMetadata> render(String values) throws IOException {
    var text = new Helm(CHART).template().withName("demo").withValuesFile(values(values)).call();
    return Arrays.stream(text.split("(?m)^---$"))
        .filter(document -> document.contains("kind:"))
        .map(document -> kubernetes.<HasMetadata>unmarshal(document))
        .toList();
  }

  private Path values(String text) throws IOException {
    return Files.writeString(folder.resolve("values.yaml"), text);
  }

  /** Follows the getters of the model; each object keeps unknown fields in a map. */
  private static void collectUnknown(Object value, String path, List<String> unknown) {
    if (value instanceof List<?> list) {
      for (int i = 0; i < list.size(); i++) {
        collectUnknown(list.get(i), path + "[" + i + "]", unknown);
      }
      return;
    }
    if (value == null || !value.getClass().getName().startsWith("io.fabric8.kubernetes.api")) {
      return;
    }
    for (var getter : value.getClass().getMethods()) {
      if (getter.getParameterCount() > 0 || !getter.getName().startsWith("get")) {
        continue;
      }
      try {
        var child = getter.invoke(value);
        var name = getter.getName().substring(3);
        if (name.equals("AdditionalProperties") && child instanceof Map<?, ?> map) {
          map.keySet().forEach(key -> unknown.add(path + "." + key));
        } else {
          collectUnknown(
              child, path + "." + name.substring(0, 1).toLowerCase() + name.substring(1), unknown);
        }
      } catch (ReflectiveOperationException e) {
        throw new AssertionError(path, e);
      }
    }
  }
}
