package dev.sessionkeeper.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Posts a payload as GitHub does, signed. */
@Command(
    name = "send-github",
    description = "Post a payload to the webhook endpoint as GitHub would, signed with the secret.")
final class SendGitHub implements Callable<Integer> {
  @Mixin Remote remote = new Remote();

  @Option(
      names = "--event",
      required = true,
      description =
          "Type, or type.action such as pull_request.opened; the action must be that of the payload")
  String event = "";

  @Option(names = "--file", required = true, description = "The payload")
  Path file = Path.of("");

  @Option(
      names = "--secret",
      defaultValue = "${env:GITHUB_WEBHOOK_SECRET}",
      description = "Default: $GITHUB_WEBHOOK_SECRET")
  @Nullable String secret;

  @Option(names = "--delivery", description = "The delivery id. Default: a new one")
  @Nullable String delivery;

  @Override
  public Integer call() throws IOException, GeneralSecurityException {
    var body = Files.readAllBytes(file);
    var headers = new LinkedHashMap<String, String>();
    headers.put("Content-Type", "application/json");
    headers.put(
        "X-GitHub-Event", event.contains(".") ? event.substring(0, event.indexOf('.')) : event);
    headers.put("X-GitHub-Delivery", delivery == null ? UUID.randomUUID().toString() : delivery);
    if (secret != null && !secret.isEmpty()) {
      headers.put("X-Hub-Signature-256", "sha256=" + signature(secret, body));
    }
    try (var client = remote.open()) {
      var answer = client.postBytes("/webhooks/github", body, headers);
      remote.tell(answer, answer.toString());
      return Exit.OK;
    }
  }

  private static String signature(String secret, byte[] body) throws GeneralSecurityException {
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    return HexFormat.of().formatHex(mac.doFinal(body));
  }
}
