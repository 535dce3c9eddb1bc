package dev.sessionkeeper.spring.boot.test;

import dev.sessionkeeper.spring.SessionErrorHandler;
import dev.sessionkeeper.spring.SessionListener;
import dev.sessionkeeper.spring.SessionProcessorCustomizer;
import java.io.IOException;
import java.util.Set;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Includes beans with listener methods in the slice. */
final class SessionkeeperTypeExcludeFilter
    extends StandardAnnotationCustomizableTypeExcludeFilter<SessionkeeperTest> {

  SessionkeeperTypeExcludeFilter(Class<?> testClass) {
    super(testClass);
  }

  @Override
  protected Set<Class<?>> getKnownIncludes() {
    return Set.of(SessionErrorHandler.class, SessionProcessorCustomizer.class);
  }

  @Override
  protected boolean defaultInclude(MetadataReader reader, MetadataReaderFactory factory)
      throws IOException {
    return reader.getAnnotationMetadata().hasAnnotatedMethods(SessionListener.class.getName())
        || super.defaultInclude(reader, factory);
  }
}
