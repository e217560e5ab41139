// The client: finds a match for a player, and follows the ticket. See docs/ticket-api.md.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "machine.hpp"

namespace muster {

enum class Phase { idle, gathering, searching, found, assigned, ended };

/** Numbers are 0 where there are none. */
struct Port {
  std::string link, protocol;
  int internal = 0, external = 0;
};

/** Where to connect. */
struct Assignment {
  std::string fqdn, city;
  /** Sent to the game server first of all: it says who the player is. `resume` gives a fresh one. */
  std::string join_token;
  std::map<std::string, Port> ports;
};

/** What a player is in. Texts are empty, and numbers below 0, where there is nothing to say. */
struct State {
  Phase phase = Phase::idle;
  /** Nothing is heard, and the connection is being made again. */
  bool is_stale = false;
  /** Of the ticket (searching, found) or the group (gathering). */
  std::string ticket_id, queue, group_id;
  /** Half of such tickets wait no longer. */
  double wait_p50_seconds = -1;
  /** The player is asked whether they accept the match, until a time in ISO 8601 by Muster's clock. */
  bool must_accept = false;
  std::string accept_until;
  /** Whether the player, and each other member of the group, is ready. */
  bool is_ready = false;
  std::vector<std::pair<std::string, bool>> members;
  /** Of the group: ids of members who are not ready, why no match is searched yet. Empty until they are known. */
  std::vector<std::string> waiting_for;
  std::string match_id;
  Assignment assignment;
  /** Why it ended: `cancelled`, `expired`, `declined`, `absent`, …; `gone`: Muster knows nothing of it. */
  std::string reason;
};

/** Why a command failed. */
struct Refusal {
  /** HTTP status; 0: there was no answer, or the search has ended. */
  int status = 0;
  /** For programs, e.g. `player-cooling-down`. */
  std::string code, message, field;
  double retry_after_ms = 0;
};

/** What is asked for: a queue, and what its rules compare. */
struct Play {
  std::string profile;
  /** An object. */
  Json attributes = {};
  /** Arrays of texts. */
  Json roles = {}, profiles = {};
};

namespace detail {

inline Json request_of(const Play& play) {
  Json request = Json::object({{"profile", play.profile}});
  if (play.attributes.is_object()) request.set("attributes", play.attributes);
  if (play.roles.is_array()) request.set("roles", play.roles);
  if (play.profiles.is_array()) request.set("profiles", play.profiles);
  return request;
}

inline State state_of(const Json& told) {
  static const std::map<std::string, Phase> phases = {
      {"idle", Phase::idle},   {"gathering", Phase::gathering}, {"searching", Phase::searching},
      {"found", Phase::found}, {"assigned", Phase::assigned},   {"ended", Phase::ended}};
  State state;
  state.phase = phases.at(told["phase"].text());
  state.is_stale = told.has("stale");
  state.ticket_id = told["ticket"]["id"].text();
  state.queue = told["ticket"]["queue"].text();
  const Json& group = told["group"];
  state.group_id = group.is_object() ? group["id"].text() : told["ticket"]["groupId"].text();
  state.is_ready = group["isReady"].boolean();
  for (const Json& member : group["members"].items())
    state.members.emplace_back(member["playerId"].text(), member["isReady"].boolean());
  for (const Json& player : group["waitingFor"].items()) state.waiting_for.push_back(player.text());
  if (told["wait"].is_object()) state.wait_p50_seconds = told["wait"]["p50Seconds"].number();
  const Json& acceptance = told["acceptance"];
  state.must_accept = acceptance.is_object() && !acceptance["accepted"].boolean();
  state.accept_until = acceptance["until"].text();
  state.match_id = told["matchId"].text();
  state.reason = told["reason"].text();
  const Json& assignment = told["assignment"];
  state.assignment.fqdn = assignment["fqdn"].text();
  state.assignment.city = assignment["city"].text();
  state.assignment.join_token = assignment["joinToken"].text();
  for (const auto& [name, port] : assignment["ports"].members())
    state.assignment.ports[name] = {port["link"].text(), port["protocol"].text(),
                                    static_cast<int>(port["internal"].number()),
                                    static_cast<int>(port["external"].number())};
  return state;
}

inline Refusal refusal_in(const Json& told) {
  return {static_cast<int>(told["status"].number()), told["code"].text(), told["message"].text(), told["field"].text(),
          told["retryAfterMs"].number()};
}

/** A page of a proxy, or half an answer, is none. */
inline Json client_answer(const Response& response) {
  const std::optional<Json> body = Json::parse(response.body);
  const bool is_muster = response.status == 204 || (body && (body->is_object() || body->is_array()));
  Json answer = Json::object({{"status", is_muster || response.status == 401 ? response.status : 0}});
  if (is_muster && body) answer.set("body", *body);
  if (retry_after_ms(response) > 0) answer.set("retryAfterMs", retry_after_ms(response));
  return answer;
}

}  // namespace detail

/**
 * One player's connection with Muster. It sends nothing before the first command. Every callback is called by update().
 */
class Client {
 public:
  /** Called with nullptr once the command is done. */
  using Done = std::function<void(const Refusal*)>;
  struct Options {
    /** Where the ticket API is, for example `https://play.example.com/matchmaking`. */
    std::string url;
    /** The player's token, asked for before each request. */
    std::function<std::string()> token;
    /** Lives longer than the client. */
    Transport* transport = nullptr;
  };

  explicit Client(Options options)
      : driver_(std::move(options.url), std::move(options.token), options.transport, detail::client_answer) {}

  /** Once a frame. @param now_ms epoch milliseconds that never go back */
  void update(std::int64_t now_ms = clock_ms()) {
    driver_.update(static_cast<double>(now_ms), [this](const Json& output) { tell(output); });
  }
  const State& state() const { return state_; }
  void on_change(std::function<void(const State&)> listener) { listener_ = std::move(listener); }

  /** Takes up what the player is in, on any device: when the game starts. */
  void resume(Done done = nullptr) { command("resume", Json::object(), std::move(done)); }
  /** Searches a match, or goes on with what the player is in. Done: once there is a server. */
  void play(const Play& play, Done done = nullptr) {
    command("play", Json::object({{"request", detail::request_of(play)}}), std::move(done));
  }
  void accept(Done done = nullptr) { command("accept", Json::object(), std::move(done)); }
  void decline(Done done = nullptr) { command("decline", Json::object(), std::move(done)); }
  /** Leaves the queue or the group. Refused if a server was assigned meanwhile. */
  void cancel(Done done = nullptr) { command("cancel", Json::object(), std::move(done)); }
  void create_group(const Play& play, Done done = nullptr) {
    command("group", Json::object({{"request", detail::request_of(play)}}), std::move(done));
  }
  void join_group(const std::string& group_id, const Play& play, Done done = nullptr) {
    command("group", Json::object({{"request", detail::request_of(play)}, {"join", group_id}}), std::move(done));
  }
  /** The search of the group begins when all members are ready. */
  void ready(bool is_ready = true, Done done = nullptr) {
    command("ready", Json::object({{"isReady", is_ready}}), std::move(done));
  }

 private:
  void command(const char* what, Json input, Done done) {
    commands_ += 1;
    if (done) pending_[commands_] = std::move(done);
    driver_.put(input.set("do", what).set("command", commands_));
  }
  void tell(const Json& output) {
    if (output.has("state")) {
      state_ = detail::state_of(output["state"]);
      if (listener_) listener_(state_);
      return;
    }
    const bool is_done = output.has("done");
    const auto found = pending_.find(output[is_done ? "done" : "failed"].number());
    if (found == pending_.end()) return;
    const Done done = std::move(found->second);
    pending_.erase(found);
    const Refusal refusal = detail::refusal_in(output["refusal"]);
    done(is_done ? nullptr : &refusal);
  }

  detail::Driver<Machine> driver_;
  State state_;
  std::function<void(const State&)> listener_;
  std::map<double, Done> pending_;
  double commands_ = 0;
};

}  // namespace muster
