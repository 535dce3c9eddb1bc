package dev.sessionkeeper.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The committed capability table, for the test that it is current. */
public final class CapabilityTable {
  private CapabilityTable() {}

  /**
   * Returns where the table and the results of a provider's last run differ.
   *
   * @param table the file of the table
   * @param results the provider's file of results
   */
  public static List<String> differences(Path table, Path results) throws IOException {
    var provider = ContractResults.parse(Files.readString(results));
    var rows =
        Files.readAllLines(table).stream()
            .filter(line -> line.startsWith("| "))
            .map(line -> Arrays.stream(line.split("\\|")).map(String::strip).toList())
            .toList();
    int column = rows.getFirst().indexOf(provider.name());
    if (column < 0) {
      return List.of("there is no column " + provider.name());
    }
    var differences = new ArrayList<String>();
    for (var rule : provider.rules().keySet()) {
      var expected = WriteCapabilityTable.cell(provider, rule);
      var written =
          rows.stream()
              .filter(row -> row.get(1).equals(rule))
              .map(row -> row.get(column))
              .findFirst()
              .orElse("nothing");
      if (!written.equals(expected)) {
        differences.add(rule + ": the table says " + written + ", the run says " + expected);
      }
    }
    return differences;
  }
}
