package dev.sessionkeeper.server.dashboard;

import dev.sessionkeeper.server.http.Role;
import java.util.List;
import java.util.function.Predicate;

/** The entries of the menu: those that this server has and that the reader may see. */
final class Menu {
  private record Place(Shell.Entry entry, Role role, String needs) {}

  private static final List<Place> PLACES =
      List.of(
          place("overview", "Overview", "/", "o", Role.READ, "/queues"),
          place("queues", "Queues", "/ui/queues", "q", Role.READ, "/queues"),
          place("events", "GitHub events", "/ui/events", "e", Role.READ, "/events"),
          place("bots", "Bots", "/ui/bots", "b", Role.READ, "/bots"),
          place("registry", "Registry", "/ui/registry", "r", Role.READ, "/sessions"),
          place("usage", "Usage", "/ui/usage", "u", Role.READ, "/usages/proof"),
          place("jobs", "Jobs", "/ui/jobs", "j", Role.READ, "/jobs"),
          place("streams", "Streams", "/ui/streams", "s", Role.READ, "/streams"),
          place("bulk", "Bulk runs", "/ui/bulk", "k", Role.READ, "/bulk"),
          place("access", "Access", "/ui/access", "a", Role.ADMIN, "/audit"),
          place("system", "System", "/ui/system", "y", Role.READ, "/system"));

  private final Api api;

  Menu(Api api) {
    this.api = api;
  }

  private static Place place(
      String key, String name, String link, String letter, Role role, String needs) {
    return new Place(new Shell.Entry(key, name, link, letter), role, needs);
  }

  List<Shell.Entry> entries(Predicate<Role> may) {
    return PLACES.stream()
        .filter(place -> may.test(place.role()) && api.has("GET", place.needs()))
        .map(Place::entry)
        .toList();
  }
}
