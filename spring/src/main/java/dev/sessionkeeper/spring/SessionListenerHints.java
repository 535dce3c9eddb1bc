package dev.sessionkeeper.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;

/** Registers listener methods and payload types for ahead-of-time processing. */
final class SessionListenerHints implements ReflectiveProcessor {
  private final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

  @Override
  public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
    if (!(element instanceof Method method)) {
      return;
    }
    hints.registerMethod(method, ExecutableMode.INVOKE);
    for (var parameter : method.getParameters()) {
      if (ListenerParameter.isPayload(parameter)) {
        bindings.registerReflectionHints(hints, parameter.getParameterizedType());
      }
    }
  }
}
