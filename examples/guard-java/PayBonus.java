import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pays the bonuses of one period; may be run, killed and run again as often as you like.
 *
 * <pre>java -cp postgresql.jar PayBonus.java jdbc:postgresql://… http://…/pay 2026-07</pre>
 *
 * Exit code 0: everybody is paid. 3: somebody is not, yet: see `escapement guard list`.
 */
public class PayBonus {
  private static final String LEASE = "30 seconds";
  private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  public static void main(String[] args) throws Exception {
    try (Connection db = DriverManager.getConnection(args[0])) {
      List<String> unpaid = new ArrayList<>();
      for (Map.Entry<String, Long> person : due(db, args[2]).entrySet()) {
        if (!payOnce(db, args[1], args[2], person.getKey(), person.getValue())) unpaid.add(person.getKey());
      }
      if (unpaid.isEmpty()) return;
      System.err.println("not paid for certain: " + String.join(", ", unpaid));
    }
    System.exit(3);
  }

  /** True when the person is paid, by this run or an earlier one, and the record is written. */
  private static boolean payOnce(Connection db, String paymentUrl, String period, String user, long cents) throws Exception {
    String key = "bonus/" + period + "/" + user;
    String request = "{\"month\": \"" + period + "\", \"userId\": \"" + user + "\", \"cents\": " + cents + "}";
    // Auto-commit: the intention is committed before the call is made.
    db.setAutoCommit(true);
    String decision;
    String token;
    try (PreparedStatement begin =
            prepare(db, "SELECT decision, token FROM escapement_guard.call_begin(?, ?::jsonb, 'payments', true, ?::interval)", key, request, LEASE);
        ResultSet row = begin.executeQuery()) {
      row.next();
      decision = row.getString("decision");
      token = row.getString("token");
    }
    if (decision.equals("call")) decision = call(db, paymentUrl, key, token, request);
    if (!decision.equals("done")) {
      System.err.println(key + ": " + decision);
      return false;
    }
    record(db, key, period, user, cents);
    return true;
  }

  private static String call(Connection db, String paymentUrl, String key, String token, String request) throws Exception {
    text(db, "SELECT escapement_guard.call_confirm(?, ?::bigint)", key, token);
    try {
      HttpRequest post =
          HttpRequest.newBuilder(URI.create(paymentUrl))
              .timeout(Duration.ofSeconds(20))
              .header("Idempotency-Key", key)
              .POST(HttpRequest.BodyPublishers.ofString(request))
              .build();
      HttpResponse<String> response = HTTP.send(post, HttpResponse.BodyHandlers.ofString());
      int status = response.statusCode();
      if (status < 300) return text(db, "SELECT escapement_guard.call_done(?, ?::bigint, ?::jsonb)", key, token, response.body());
      // 4xx is a certain no. Anything else may have been accepted.
      if (status >= 400 && status < 500) return text(db, "SELECT escapement_guard.call_refused(?, ?::bigint, to_jsonb(?::text))", key, token, response.body());
      return text(db, "SELECT escapement_guard.call_doubt(?, ?::bigint, ?)", key, token, "status " + status);
    } catch (IOException error) {
      return text(db, "SELECT escapement_guard.call_doubt(?, ?::bigint, ?)", key, token, String.valueOf(error.getMessage()));
    }
  }

  /** The row and its key commit together: a second run finds the key and writes nothing. */
  private static void record(Connection db, String key, String period, String user, long cents) throws SQLException {
    db.setAutoCommit(false);
    try {
      text(db, "SELECT escapement_guard.enter()");
      String token = System.getenv("ESCAPEMENT_FENCE_TOKEN");
      // Started by `escapement once` or an executor: a holder that was frozen must not write any more.
      if (token != null) text(db, "SELECT escapement_guard.fence(?, ?::bigint)", resource(), token);
      if (text(db, "SELECT claimed FROM escapement_guard.claim(?)", key).equals("t")) {
        try (PreparedStatement insert = prepare(db, "INSERT INTO reward_records (batch_id, user_id, cents) VALUES (?, ?, ?::bigint)", period, user, String.valueOf(cents))) {
          insert.executeUpdate();
        }
      }
      db.commit();
    } catch (SQLException error) {
      db.rollback();
      throw error;
    }
  }

  private static String resource() {
    Map<String, String> env = System.getenv();
    String slot = env.containsKey("ESCAPEMENT_FIRE_TIME") ? env.get("ESCAPEMENT_FIRE_TIME") : env.get("ESCAPEMENT_PERIOD");
    return env.get("ESCAPEMENT_JOB") + "/" + slot + "/" + env.getOrDefault("ESCAPEMENT_SHARD_NO", "0");
  }

  private static Map<String, Long> due(Connection db, String period) throws SQLException {
    Map<String, Long> people = new LinkedHashMap<>();
    try (PreparedStatement select = prepare(db, "SELECT user_id, cents FROM bonus_due WHERE batch_id = ? ORDER BY user_id", period);
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) people.put(rows.getString(1), rows.getLong(2));
    }
    return people;
  }

  private static String text(Connection db, String sql, String... values) throws SQLException {
    try (PreparedStatement select = prepare(db, sql, values);
        ResultSet row = select.executeQuery()) {
      row.next();
      return row.getString(1);
    }
  }

  private static PreparedStatement prepare(Connection db, String sql, String... values) throws SQLException {
    PreparedStatement statement = db.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) statement.setString(i + 1, values[i]);
    return statement;
  }
}
