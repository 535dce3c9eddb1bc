package dev.sessionkeeper.server.gateway;

import dev.sessionkeeper.store.Columns;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Conditions of a query with their values, joined by AND. Values are bound, never part of the text.
 */
final class Conditions {
  /** The placeholder for the conditions in a query. */
  static final String HERE = "<conditions>";

  private final List<String> texts = new ArrayList<>();
  private final List<Object> values = new ArrayList<>();

  void add(String text, Object... its) {
    texts.add("(" + text.strip() + ")");
    values.addAll(List.of(its));
  }

  /** Returns the query with these conditions in place of {@value #HERE}. */
  String in(String query) {
    return query.replace(HERE, texts.isEmpty() ? "TRUE" : String.join(" AND ", texts));
  }

  /** Binds the values from this index on. Returns the next index. */
  int bind(PreparedStatement statement, int from) throws SQLException {
    int index = from;
    for (var value : values) {
      if (value instanceof Collection<?> texts) {
        var connection = statement.getConnection();
        statement.setArray(index++, Columns.array(connection, "text", texts));
      } else {
        statement.setObject(index++, value);
      }
    }
    return index;
  }
}
