package dev.sessionkeeper.testkit;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Intercepts every statement and every COMMIT between a caller and its database. */
public final class StepByStep {
  private StepByStep() {}

  /** Performs the intercepted step on the real connection. */
  public interface Work {
    @Nullable Object run() throws Throwable;
  }

  /** Performs the step, or suppresses it. */
  public interface Between {
    @Nullable Object call(String step, Connection connection, Work work) throws Throwable;
  }

  public static DataSource of(DataSource source, Between between) {
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          var result = invoke(source, method, arguments);
          return result instanceof Connection connection ? watched(connection, between) : result;
        });
  }

  private static Connection watched(Connection connection, Between between) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          if (method.getName().equals("commit")) {
            return between.call("COMMIT", connection, () -> invoke(connection, method, arguments));
          }
          var result = invoke(connection, method, arguments);
          if (result instanceof PreparedStatement statement && arguments != null) {
            return watched(statement, (String) arguments[0], connection, between);
          }
          return result instanceof Statement statement
              ? watched(statement, connection, between)
              : result;
        });
  }

  private static PreparedStatement watched(
      PreparedStatement statement, String sql, Connection connection, Between between) {
    var step = sql.strip().replaceAll("\\s+", " ");
    return proxy(
        PreparedStatement.class,
        (method, arguments) ->
            method.getName().startsWith("execute")
                ? between.call(step, connection, () -> invoke(statement, method, arguments))
                : invoke(statement, method, arguments));
  }

  private static Statement watched(Statement statement, Connection connection, Between between) {
    return proxy(
        Statement.class,
        (method, arguments) ->
            method.getName().startsWith("execute") && arguments != null
                ? between.call(
                    String.valueOf(arguments[0]),
                    connection,
                    () -> invoke(statement, method, arguments))
                : invoke(statement, method, arguments));
  }

  /** Runs in place of a method of the connection. */
  private interface Instead {
    @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Instead instead) {
    InvocationHandler handler = (proxy, method, arguments) -> instead.call(method, arguments);
    return type.cast(
        Proxy.newProxyInstance(StepByStep.class.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private static @Nullable Object invoke(
      Object target, Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
