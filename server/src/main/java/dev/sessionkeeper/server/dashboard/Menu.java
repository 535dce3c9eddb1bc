package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Role;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The entries of the menu: those that this server has and the reader may see. */
final class Menu {
  private record Place(Shell.Entry entry, Role role, String needs) {}

  private static final List<Place> PLACES =
      List.of(
          place(
              new Shell.Entry(
                  "overview", "", "Overview", "/", "o", "M2.5 8.5 8 3l5.5 5.5M4 7.5V13h8V7.5"),
              Role.READ,
              "/queues"),
          place(
              new Shell.Entry(
                  "queues", "", "Queues", "/ui/queues", "q", "M2.5 4h11M2.5 8h11M2.5 12h7"),
              Role.READ,
              "/queues"),
          place(
              new Shell.Entry(
                  "bulk",
                  "",
                  "Bulk runs",
                  "/ui/bulk",
                  "k",
                  "M3 3.5h4v4H3zM9 5.5h4M3 10.5h4v3H3zM9 12h4"),
              Role.READ,
              "/bulk"),
          place(
              new Shell.Entry(
                  "events",
                  "GitHub",
                  "Events",
                  "/ui/events",
                  "e",
                  "M8 2v3M8 11v3M2 8h3M11 8h3M8 8m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0"),
              Role.READ,
              "/events"),
          place(
              new Shell.Entry(
                  "bots",
                  "GitHub",
                  "Bots",
                  "/ui/bots",
                  "b",
                  "M3.5 6h9v6.5h-9zM8 3.5V6M6 9h.01M10 9h.01M1.5 8.5v2M14.5 8.5v2"),
              Role.READ,
              "/bots"),
          place(
              new Shell.Entry(
                  "registry",
                  "Sessions",
                  "Registry",
                  "/ui/registry",
                  "r",
                  "M8 7.5a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5M3 13.5c.6-2.6 2.5-4 5-4s4.4 1.4 5 4"),
              Role.READ,
              "/sessions"),
          place(
              new Shell.Entry(
                  "usage", "Sessions", "Usage", "/ui/usage", "u", "M3 13.5V8.5M8 13.5V3M13 13.5V6"),
              Role.READ,
              "/usages/proof"),
          place(
              new Shell.Entry(
                  "jobs",
                  "Server",
                  "Jobs",
                  "/ui/jobs",
                  "j",
                  "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.5V8l2.5 1.5"),
              Role.READ,
              "/jobs"),
          place(
              new Shell.Entry(
                  "streams",
                  "Server",
                  "Streams",
                  "/ui/streams",
                  "s",
                  "M2 5c2-2 4-2 6 0s4 2 6 0M2 11c2-2 4-2 6 0s4 2 6 0"),
              Role.READ,
              "/streams"),
          place(
              new Shell.Entry(
                  "access",
                  "Server",
                  "Access",
                  "/ui/access",
                  "a",
                  "M5.5 7V5a2.5 2.5 0 0 1 5 0v2M3.5 7h9v6.5h-9z"),
              Role.ADMIN,
              "/audit"),
          place(
              new Shell.Entry(
                  "system",
                  "Server",
                  "System",
                  "/ui/system",
                  "y",
                  "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01"),
              Role.READ,
              "/system"));

  private final Api api;

  Menu(Api api) {
    this.api = api;
  }

  private static Place place(Shell.Entry entry, Role role, String needs) {
    return new Place(entry, role, needs);
  }

  /** The entries by their groups, in the order of the menu. */
  static Map<String, List<Shell.Entry>> grouped(List<Shell.Entry> entries) {
    return entries.stream()
        .collect(
            Collectors.groupingBy(Shell.Entry::group, LinkedHashMap::new, Collectors.toList()));
  }

  List<Shell.Entry> entries(Predicate<Role> may) {
    return PLACES.stream()
        .filter(place -> may.test(place.role()) && api.has("GET", place.needs()))
        .map(Place::entry)
        .toList();
  }
}
