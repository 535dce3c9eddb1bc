package dev.sessionkeeper.benchmarks.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.PageCursor;
import dev.sessionkeeper.github.GitHubSignature;
import dev.sessionkeeper.github.RawDelivery;
import dev.sessionkeeper.github.ReadDelivery;
import dev.sessionkeeper.server.ReadConfig;
import dev.sessionkeeper.server.config.ConfigSources;
import dev.sessionkeeper.server.config.InvalidConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A part of the product that takes bytes from strangers. An exception of {@link #take} is a
 * finding.
 */
enum Target {
  /** Whole requests, byte by byte. */
  HTTP {
    @Override
    void take(byte[] input) throws Exception {
      FuzzedServer.shared().refuseServerErrors(input);
    }
  },
  /** The first byte chooses a route, the rest is its body. */
  JSON {
    @Override
    void take(byte[] input) throws Exception {
      if (input.length > 0) {
        FuzzedServer.shared().postJson(input[0], Arrays.copyOfRange(input, 1, input.length));
      }
    }
  },
  /** Lease ids, message ids and cursors, in paths and queries. */
  IDS {
    @Override
    void take(byte[] input) throws Exception {
      if (input.length > 0) {
        FuzzedServer.shared().callWithId(input[0], Arrays.copyOfRange(input, 1, input.length));
      }
    }
  },
  /** Cursors of pages. */
  CURSOR {
    @Override
    void take(byte[] input) {
      var text = new String(input, UTF_8);
      try {
        PageCursor.keyOf("list", 2, text);
      } catch (KeeperException.InvalidCursor e) {
        // Refused, as it should be.
      }
      var key = text.replace("\u001f", "");
      var back = PageCursor.keyOf("list", 2, PageCursor.after("list", key, "end"));
      // Text that UTF-8 cannot tell comes back as what it was stored as.
      var stored = new String(key.getBytes(UTF_8), UTF_8);
      if (!back.equals(List.of(stored, "end"))) {
        throw new IllegalStateException("A cursor lost its key: " + back);
      }
    }
  },
  /** The text of a configuration file. */
  CONFIG {
    @Override
    void take(byte[] input) {
      try {
        ReadConfig.from(
            new ConfigSources(
                "keeper.yaml", new String(input, UTF_8), Path.of("/tmp"), Map.of(), Map.of()));
      } catch (InvalidConfig e) {
        if (e.errors().isEmpty()) {
          throw new IllegalStateException("A configuration was refused without a reason", e);
        }
      }
    }
  },
  /** Signed deliveries of GitHub; the first byte chooses the event. */
  WEBHOOK {
    @Override
    void take(byte[] input) {
      if (input.length == 0) {
        return;
      }
      var body = Arrays.copyOfRange(input, 1, input.length);
      READER.read(
          new RawDelivery(
              Optional.of(EVENTS.get(Math.floorMod(input[0], EVENTS.size()))),
              Optional.of("72d3162e-cc78-11e3-81ab-4c9367dc0958"),
              Optional.of(GitHubSignature.sign(SECRET, body)),
              Optional.of("application/json"),
              body));
    }
  },
  /** Session ids, message ids, properties and bodies in columns of PostgreSQL. */
  SQL {
    @Override
    void take(byte[] input) throws Exception {
      FuzzedStore.shared().storeAndRead(input);
    }
  },
  /** Fails at once, to check that the harness reports findings. */
  CANARY {
    @Override
    void take(byte[] input) {
      if (input.length > 0 && input[0] == 'k') {
        throw new IllegalStateException("As planted");
      }
    }
  };

  private static final String SECRET = "a secret of tests";
  private static final List<String> EVENTS =
      List.of(
          "pull_request",
          "issues",
          "issue_comment",
          "check_run",
          "workflow_run",
          "installation",
          "ping",
          "push",
          "something_new");
  private static final ReadDelivery READER =
      ReadDelivery.create(GitHubSignature.of(List.of(SECRET)));

  abstract void take(byte[] input) throws Exception;
}
