package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.server.http.RefusalPage;
import dev.sessionkeeper.server.http.Request;
import dev.sessionkeeper.server.http.Response;
import dev.sessionkeeper.server.http.Role;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.server.http.Scope;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * The static files of pages. Each address contains the file's digest, so browsers may cache the
 * file for ever. The files are compressed once, when the server starts.
 */
final class Assets {
  private static final Map<String, String> TYPES =
      Map.of(
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml");
  private static final String FOREVER = "public, max-age=31536000, immutable";

  private final Map<String, Asset> byName = new LinkedHashMap<>();

  private record Asset(String digest, byte[] plain, byte[] gzipped) {}

  Assets() {
    for (var name :
        new String[] {
          "vendor/htmx-4.0.0.min.js",
          "vendor/uPlot-1.6.32.iife.min.js",
          "vendor/uPlot-1.6.32.min.css",
          "keeper.js",
          "keeper.css",
          "icon.svg"
        }) {
      byName.put(name.substring(name.lastIndexOf('/') + 1), read("/dashboard/" + name));
    }
  }

  /** Returns the address of a file. */
  String url(String name) {
    var asset = byName.get(name);
    if (asset == null) {
      throw new IllegalArgumentException("There is no file " + name);
    }
    return "/ui/assets/" + asset.digest() + "/" + name;
  }

  Route route(RefusalPage refusals) {
    return Route.get("/ui/assets/{digest}/{file}", Role.ANYONE, Scope.open(), this::serve)
        .page(refusals);
  }

  private Response serve(Request request) {
    var name = request.parameter("file");
    var asset = byName.get(name);
    if (asset == null || !asset.digest().equals(request.parameter("digest"))) {
      throw ProblemType.NOT_FOUND.with("There is no such file").toException();
    }
    var type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain");
    boolean isGzipTaken = request.header("Accept-Encoding").contains("gzip");
    var response =
        Response.bytes(200, type, isGzipTaken ? asset.gzipped() : asset.plain())
            .header("Cache-Control", FOREVER)
            .header("Vary", "Accept-Encoding");
    return isGzipTaken ? response.header("Content-Encoding", "gzip") : response;
  }

  private static Asset read(String path) {
    try (var in = Assets.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("The file " + path + " is missing in this build");
      }
      var bytes = in.readAllBytes();
      return new Asset(digest(bytes), bytes, gzip(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    var out = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private static String digest(byte[] bytes) {
    try {
      var digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("Every Java platform has SHA-256", e);
    }
  }
}
