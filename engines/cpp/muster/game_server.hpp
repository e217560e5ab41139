// A game server that serves matches of Muster. See docs/servers.md.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "server_machine.hpp"
#include "verifier.hpp"

namespace muster {

struct Player {
  std::string id, match_id;
  /** Empty where there are no teams, and for players who came alone. */
  std::string team, group_id;
  /** An object. */
  Json attributes;
};

struct Match {
  std::string id, queue;
  /** What the players have in common, by the rules `equal` and `overlap`: an object. */
  Json attributes;
  /** One team of an empty name where there are no teams. */
  std::vector<std::pair<std::string, std::vector<Player>>> teams;
};

namespace detail {

inline Player player_of(const Json& told) {
  return {told["id"].text(), told["matchId"].text(), told["team"].text(), told["groupId"].text(), told["attributes"]};
}
inline std::vector<Player> players_of(const Json& told) {
  std::vector<Player> players;
  for (const Json& one : told.items()) players.push_back(player_of(one));
  return players;
}
inline Match match_of(const Json& told) {
  Match match{told["id"].text(), told["queue"].text(), told["attributes"], {}};
  for (const auto& [name, players] : told["teams"].members()) match.teams.emplace_back(name, players_of(players));
  return match;
}

inline Json server_answer(const Response& response) {
  Json answer = Json::object({{"status", response.status}});
  if (std::optional<Json> body = Json::parse(response.body)) answer.set("body", *body);
  if (retry_after_ms(response) > 0) answer.set("retryAfterMs", retry_after_ms(response));
  if (!response.date.empty()) answer.set("date", response.date);
  return answer;
}

/** A random text that tells this process from others with the same token. */
inline std::string new_instance() {
  std::random_device random;
  std::string text;
  for (int nth = 0; nth < 4; nth++) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", random());
    text += part;
  }
  return text;
}

}  // namespace detail

/** What the game does when Muster wants something. Each may be left out. Every one is called by update(). */
struct ServerHandlers {
  /** A match is to be played: answer by open() or refuse(). */
  std::function<void(const Match&)> match;
  /** Players have come to a match by seats(). */
  std::function<void(const std::string& match_id, const std::vector<Player>&)> joined;
  /** The match is over, by your over() or by Muster's order. */
  std::function<void(const std::string& match_id, const std::string& reason)> ended;
  /** No match comes any more. Those that are played go on to their end. */
  std::function<void(const std::string& reason)> draining;
  /** The process is to end: call stopped() before this time in epoch milliseconds. */
  std::function<void(const std::string& reason, double until)> stop;
  /** Muster has heard the last word: end the process. */
  std::function<void()> finished;
  /** A sentence such as 'Muster does not answer'. */
  std::function<void(const std::string& sentence)> problem;
};

class GameServer {
 public:
  struct Options {
    /**
     * Default: MUSTER_URL and MUSTER_SERVER_TOKEN of the environment. Without a token, MUSTER_ENROL_KEY adds the
     * process to a pool: docs/own-machines.md.
     */
    std::string url, token;
    /** The build of the game; players of another one get no seat. */
    std::string build;
    /** Matches that it serves at a time, 1 to 64. */
    int matches = 1;
    /** What it says of itself, such as its map: an object. */
    Json attributes;
    /** The variables by which the process was started: an object of texts. Say them where a platform lists none. */
    Json environment = process_environment();
    /** Lives longer than the server. */
    Transport* transport = nullptr;
  };
  /** Called with nullptr once Muster has the result; otherwise with what is wrong, and the match goes on. */
  using Done = std::function<void(const char* fault)>;
  /** Called with a player, or with why they are not let in: `expired`, `used`, `forged`, … */
  using Admitted = std::function<void(const Player*, const std::string& refused)>;

  /** Registers with the first update(): the assets are loaded, and matches may come. */
  GameServer(Options given, ServerHandlers handlers) : GameServer(filled(std::move(given)), std::move(handlers), 0) {}
  /** The ports of the deployment, by name: objects of `internal`, where to listen, `external` and `protocol`. */
  const Json& ports() const { return ports_; }

  /** Once a tick. @param now_ms epoch milliseconds that never go back */
  void update(std::int64_t now_ms = clock_ms()) {
    const auto now = static_cast<double>(now_ms);
    const std::int64_t ahead = clock_step_ms();
    if (std::abs(ahead - told_ahead_ms_) >= 1000) {
      told_ahead_ms_ = ahead;
      driver_.put(Json::object({{"do", "clock"}, {"aheadMs", static_cast<double>(ahead)}}));
    }
    driver_.update(now, [this](const Json& output) { tell(output); });
    verifier_.update(now);
  }

  /** Players may come to the match. Muster sends it elsewhere if this takes longer than 3 s without an answer. */
  void open(const std::string& match_id) { command("open", match_id); }
  /** The match goes to another server, and this one is drained. */
  void refuse(const std::string& match_id) { command("refuse", match_id); }
  /** @param result an object of `ranking`, arrays of ids, the best first, and `data`; at most 8 KiB as JSON */
  void over(const std::string& match_id, const Json& result = nullptr, Done done = nullptr) {
    Json input = Json::object({{"match", match_id}});
    if (!result.is_null()) input.set("result", result);
    command("over", std::move(input), std::move(done));
  }
  /** Asks for more players, or for none any more. @param teams how many by team; null: as many as have left */
  void seats(const std::string& match_id, bool is_open, const Json& teams = nullptr, Done done = nullptr) {
    Json input = Json::object({{"match", match_id}, {"open", is_open}});
    if (!teams.is_null()) input.set("teams", teams);
    command("seats", std::move(input), std::move(done));
  }
  /** Lets in the player who sent this token. Waits up to 2 s for a seat that Muster has given a moment ago. */
  void admit(const std::string& token, Admitted admitted) {
    admissions_[commands_ + 1] = std::move(admitted);
    command("admit", Json::object({{"token", token}}));
  }
  /** A player has left, or never came: their seat is free for others, at once or after so many milliseconds. */
  void left(const std::string& player_id, int may_return_ms = 0) {
    command("left", Json::object({{"player", player_id}, {"mayReturnMs", may_return_ms}}));
  }
  /** `false` in three reports in a row: the server is drained and replaced. */
  void healthy(bool is_healthy) { command("healthy", Json::object({{"isHealthy", is_healthy}})); }
  /** Takes no match any more. */
  void drain(const std::string& reason = "own wish") { command("drain", Json::object({{"reason", reason}})); }
  /** At a signal to the process: drains and stops. */
  void stop(const std::string& reason) { command("stop", Json::object({{"reason", reason}})); }
  /** What was to be saved is saved, after the handler `stop`. */
  void stopped() { command("stopped", Json::object()); }
  /**
   * Hand it each datagram that comes to the game's socket. Returns whether it is a knock of Muster, and so not for the
   * game. Needed where the key of the pool has `knock` by UDP: docs/own-machines.md.
   */
  bool knocked(const void* datagram, std::size_t bytes) {
    if (bytes != knock_bytes || std::memcmp(datagram, "muster-knock-", 13) != 0) return false;
    command("knock", Json::object({{"text", std::string(static_cast<const char*>(datagram), bytes)}}));
    return true;
  }

 private:
  /** Of each knock of Muster. */
  static constexpr std::size_t knock_bytes = 43;

  /** The options, and the environment's values for those not given. A server that Muster has started has a token. */
  static Options filled(Options options) {
    Json& environment = options.environment;
    if (options.url.empty()) options.url = environment["MUSTER_URL"].text();
    if (options.token.empty()) options.token = environment["MUSTER_SERVER_TOKEN"].text();
    if (!options.token.empty()) environment.set("MUSTER_ENROL_KEY", "");
    else options.token = environment["MUSTER_ENROL_KEY"].text();
    return options;
  }
  GameServer(const Options& options, ServerHandlers handlers, int /* filled */)
      : driver_(
            options.url, [token = options.token] { return token; }, options.transport, detail::server_answer),
        handlers_(std::move(handlers)),
        ports_(ports_in(options.environment)),
        verifier_(options.transport, *this, options.environment["MUSTER_VERIFY_URL"].text()) {
    Json registration = Json::object({{"matches", options.matches}});
    if (!options.build.empty()) registration.set("build", options.build);
    if (options.attributes.is_object()) registration.set("attributes", options.attributes);
    driver_.put(Json::object({{"do", "start"},
                              {"instance", detail::new_instance()},
                              {"registration", registration},
                              {"environment", options.environment}}));
  }

  void command(const char* what, const std::string& match_id) { command(what, Json::object({{"match", match_id}})); }
  void command(const char* what, Json input, Done done = nullptr) {
    commands_ += 1;
    if (done) pending_[commands_] = std::move(done);
    driver_.put(input.set("do", what).set("command", commands_));
  }

  template <typename Handler, typename... Given>
  static void call(const Handler& handler, const Given&... given) {
    if (handler) handler(given...);
  }
  template <typename Handler>
  static Handler taken(std::map<double, Handler>& from, double command) {
    const auto found = from.find(command);
    if (found == from.end()) return nullptr;
    Handler handler = std::move(found->second);
    from.erase(found);
    return handler;
  }

  void tell(const Json& output) {
    if (output.has("match")) return call(handlers_.match, detail::match_of(output["match"]));
    if (output.has("joined"))
      return call(handlers_.joined, output["joined"].text(), detail::players_of(output["players"]));
    if (output.has("ended")) return call(handlers_.ended, output["ended"].text(), output["reason"].text());
    if (output.has("draining")) return call(handlers_.draining, output["draining"].text());
    if (output.has("stop")) {
      call(handlers_.stop, output["stop"].text(), output["until"].number());
      if (!handlers_.stop) stopped();
      return;
    }
    if (output.has("finished")) return call(handlers_.finished);
    if (output.has("problem")) return call(handlers_.problem, output["problem"].text());
    if (output.has("admitted")) {
      const Player player = detail::player_of(output["player"]);
      return call(taken(admissions_, output["admitted"].number()), &player, std::string());
    }
    const Player* const nobody = nullptr;
    if (output.has("refused"))
      return call(taken(admissions_, output["refused"].number()), nobody, output["code"].text());
    const bool is_done = output.has("done");
    const char* const fault = is_done ? nullptr : output["message"].text().c_str();
    call(taken(pending_, output[is_done ? "done" : "failed"].number()), fault);
  }

  detail::Driver<ServerMachine> driver_;
  ServerHandlers handlers_;
  Json ports_;
  std::map<double, Done> pending_;
  std::map<double, Admitted> admissions_;
  double commands_ = 0;
  std::int64_t told_ahead_ms_ = 0;
  /** While MUSTER_VERIFY_URL is set. */
  detail::Verifier<GameServer> verifier_;
};

}  // namespace muster
