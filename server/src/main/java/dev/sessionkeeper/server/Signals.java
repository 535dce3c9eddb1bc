package dev.sessionkeeper.server;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles SIGHUP. Java has no supported API for signals; reflection is used, so that a runtime
 * without it only loses this signal.
 */
final class Signals {
  private static final Logger log = LoggerFactory.getLogger(Signals.class);

  private Signals() {}

  static void onHangup(Runnable task) {
    try {
      var signal = Class.forName("sun.misc.Signal");
      var handler = Class.forName("sun.misc.SignalHandler");
      InvocationHandler run =
          (proxy, method, arguments) -> {
            if (method.getName().equals("handle")) {
              Thread.ofVirtual().name("reload").start(task);
              return null;
            }
            return method.getName().equals("hashCode") ? (Object) 0 : "SIGHUP";
          };
      var proxy = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, run);
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), proxy);
    } catch (ReflectiveOperationException | RuntimeException e) {
      log.info("SIGHUP is not heard here ({}); POST /admin/reload does the same", e.toString());
    }
  }
}
