package dev.sessionkeeper.examples.spring;

import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A PostgreSQL for the example, unless {@code spring.datasource.url} names another. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "orders.embedded", havingValue = "true", matchIfMissing = true)
class EmbeddedDatabase {

  @Bean
  EmbeddedPostgres postgres() {
    return EmbeddedPostgres.start(Path.of("data", "spring-orders"));
  }

  @Bean
  DataSource dataSource(EmbeddedPostgres postgres) {
    var pool = new HikariDataSource();
    pool.setDataSource(postgres.dataSource());
    pool.setMaximumPoolSize(12);
    return pool;
  }
}
