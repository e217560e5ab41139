// The game server's logic without a connection, like packages/game-server. Inputs are responses and commands, outputs
// are requests and orders. It reads no clock, sends nothing and draws no random numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "environment.hpp"
#include "join_token.hpp"
#include "served_match.hpp"
#include "wire.hpp"

namespace muster {

namespace detail {

/** Epoch milliseconds of the header `date`, as `Thu, 26 Nov 2026 12:00:00 GMT`; nothing if it is none. */
inline std::optional<double> date_in(const std::string& header) {
  int day = 0, year = 0, hour = 0, minute = 0, second = 0;
  char name[4] = "";
  if (std::sscanf(header.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d", &day, name, &year, &hour, &minute, &second) != 6)
    return std::nullopt;
  const std::size_t nth = std::string_view("JanFebMarAprMayJunJulAugSepOctNovDec").find(name);
  if (nth == std::string_view::npos) return std::nullopt;
  // The year begins in March here, so that a leap day is its last day.
  const long long month = (static_cast<long long>(nth / 3) + 10) % 12;
  const long long years = year - (month >= 10 ? 1 : 0);
  const long long days =
      years * 365 + years / 4 - years / 100 + years / 400 + (month * 153 + 2) / 5 + day - 1 - 719468;
  return static_cast<double>((days * 24 + hour) * 60 + minute) * 60000 + second * 1000.0;
}

}  // namespace detail

/** The state machine of a game server. Inputs and outputs are those of engines/server-transcript.jsonl. */
class ServerMachine {
 public:
  /** @param random from 0 to 1: spreads what many servers would otherwise do at the same moment */
  explicit ServerMachine(std::function<double()> random) : random_(std::move(random)) {}

  /** @param at epoch milliseconds, of a clock that does not go backwards */
  std::vector<Json> step(const Json& input, double at) {
    now_ = std::max(now_, at);
    out_.clear();
    if (is_finished_) return out_;
    if (input.has("do"))
      obey(input);
    else if (input.has("answer"))
      take(input);
    wake();
    if (due_at_ && *due_at_ <= now_) send();
    const std::optional<double> next = next_wake();
    if (next != wake_at_) out_.push_back(Json::object({{"wakeAt", next ? Json(*next) : Json()}}));
    wake_at_ = next;
    return out_;
  }

 private:
  /** Seconds for which a report waits for other orders: the time between two heartbeats. */
  static constexpr int wait_seconds = 10;
  /** Milliseconds between two reports at least: Muster takes 50 in 5 s. */
  static constexpr double gap_ms = 200;
  /** Reports after a registration that need no gap: with them, a server that has just come takes its first match. */
  static constexpr int eager_reports = 3;
  /** Milliseconds of the first and of the longest pause after a failure. */
  static constexpr double first_pause_ms = 500;
  static constexpr double longest_pause_ms = 15000;
  /** A difference of the clocks of fewer milliseconds is none: the header has whole seconds. */
  static constexpr double clock_tolerance_ms = 2000;
  /** Milliseconds for which a seat that is not known yet is waited for. */
  static constexpr double seat_ms = 2000;
  /** Milliseconds that the game has to end, and for which the last report is waited for after a signal. */
  static constexpr double grace_ms = 25000;
  static constexpr double last_word_ms = 2000;

  using Match = detail::ServedMatch;
  struct Request {
    double number;
    bool is_registration;
    /** Whether Muster may hold the answer. */
    bool is_waiting;
    double revision;
  };
  struct Awaited {
    double revision;
    double command;
  };
  struct Admission {
    double command;
    std::string token;
    double until;
  };

  void tell(Json output) { out_.push_back(std::move(output)); }
  void done(double command) { tell(Json::object({{"done", command}})); }
  void fail(double command, const detail::Invalid& fault) {
    const std::string message = fault.field + ": " + fault.said;
    tell(Json::object({{"failed", command}, {"field", fault.field}, {"message", message}}));
  }
  Match* match_of(const std::string& id) {
    for (Match& one : matches_)
      if (one.id() == id) return &one;
    return nullptr;
  }
  void end(Match& match, const std::string& reason) {
    if (!match.is_ended) tell(Json::object({{"ended", match.id()}, {"reason", reason}}));
    match.is_ended = true;
  }

  /** The state has changed: it is sent at once. */
  void changed() {
    revision_ += 1;
    if (!request_ || !request_->is_waiting) return;
    tell(Json::object({{"abort", request_->number}}));
    request_.reset();
    speak_in(0);
  }
  void speak_in(double ms) {
    const double gap = eager_ > 0 && version_ ? 0 : gap_ms;
    due_at_ = std::max(now_ + ms, spoke_at_ + gap);
  }
  void acknowledge(double up_to) {
    acknowledged_ = up_to;
    for (const Awaited& one : awaited_)
      if (one.revision <= up_to) done(one.command);
    awaited_.erase(std::remove_if(awaited_.begin(), awaited_.end(),
                                  [up_to](const Awaited& one) { return one.revision <= up_to; }),
                   awaited_.end());
  }

  void send() {
    due_at_.reset();
    spoke_at_ = now_;
    requests_ += 1;
    const bool is_registration = !version_;
    eager_ = is_registration ? 0 : std::max(0, eager_ - 1);
    const bool waits = !is_registration && revision_ == acknowledged_;
    request_ = Request{requests_, is_registration, waits, revision_};
    Json body = Json::object({{"instance", instance_}});
    std::string path = "/servers";
    if (is_registration) {
      for (const auto& [name, value] : registration_.members()) body.set(name, value);
    } else {
      seq_ += 1;
      Json matches = Json::array();
      for (const Match& one : matches_) matches.add(one.report());
      body.set("seq", seq_).set("healthy", is_healthy_).set("draining", is_draining_).set("matches", matches);
      if (registration_.has("attributes")) body.set("attributes", registration_["attributes"]);
      if (!knock_.empty()) body.set("knock", knock_);
      path += "/me";
      if (waits) path += "?wait=" + std::to_string(wait_seconds) + "&version=" + detail::whole(*version_);
    }
    Json request = Json::object({{"request", requests_},
                                 {"method", is_registration ? "POST" : "PUT"},
                                 {"path", path},
                                 {"body", body},
                                 {"waitMs", waits ? wait_seconds * 1000 : 0}});
    tell(token_.empty() ? request : request.set("token", token_));
  }

  void take(const Json& input) {
    if (!request_ || request_->number != input["answer"].number()) return;
    const Request sent = *request_;
    request_.reset();
    const double status = input["status"].number();
    const Json& body = input["body"];
    const auto date = detail::date_in(input["date"].text());
    if (date) muster_ahead_ms_ = std::fabs(*date - now_) < clock_tolerance_ms ? 0 : *date - now_;
    const bool is_good = status == 200 || status == 201;
    if (is_good && detail::fits(sent.is_registration ? "registered" : "orders", body)) {
      if (!sent.is_registration) acknowledge(sent.revision);
      if (sent.is_registration)
        key_ = JoinKey{body["alg"].text(), detail::from_base64url(body["key"].text()), body["id"].text()};
      if (sent.is_registration && enrols_ && body["token"].is_text()) token_ = body["token"].text();
      version_ = body["version"].number();
      failures_ = 0;
      is_first_ = sent.is_registration;
      if (!is_first_) unheld_ = 0;
      if (sent.is_registration && seq_ == 0) eager_ = eager_reports;
      speak_in(0);
      follow(body);
      // The next report has to tell the state of the matches.
      if (sent.is_registration) revision_ += 1;
      if (last_word_ && acknowledged_ >= last_word_->revision) finish();
      return;
    }
    // Muster's master secret has changed, e.g. because Muster restarted without a store.
    const bool is_stranger = status == 401 && !token_.empty();
    if (is_stranger) token_.clear();
    if (is_stranger || (status == 409 && !sent.is_registration)) {
      version_.reset();
      failures_ = is_first_ ? unheld_ : 0;
      if (!is_first_) return speak_in(0);
      unheld_ += 1;
    }
    is_first_ = false;
    const double longest = std::min(first_pause_ms * std::pow(2, failures_), longest_pause_ms);
    failures_ += 1;
    const double wanted = std::min(input["retryAfterMs"].number(), detail::longest_retry_ms);
    speak_in(std::max(wanted, random_() * longest));
    const Json& said = body["detail"].is_text() ? body["detail"] : body["message"];
    if (status == 410) return stop(said.is_text() ? said.text() : "no longer needed", false);
    const Json why = is_good ? Json() : said;
    const std::string fault =
        fault_of(detail::whole(status), why, body["field"], is_stranger, sent.is_registration);
    tell(Json::object({{"problem", fault}}));
  }

  /** A sentence about an answer that is no order. It holds nothing that this server has sent. */
  std::string fault_of(const std::string& status, const Json& said, const Json& field, bool is_stranger,
                       bool is_registration) const {
    if (status == "0") return "Muster does not answer. The game continues; the state is sent once Muster answers.";
    if (status == "401" && !is_stranger)
      return std::string("Muster does not know ") + (enrols_ ? "MUSTER_ENROL_KEY" : "MUSTER_SERVER_TOKEN") + " (401).";
    if (!said.is_text())
      return "The answer of MUSTER_URL is not from Muster (" + status + "): is there a proxy in between?";
    const std::string where = field.is_text() ? ", " + field.text() : "";
    const std::string what = is_registration ? (enrols_ ? "the enrolment" : "the registration") : "a report";
    return "Muster refuses " + what + " (" + status + where + "): " + said.text();
  }

  /** Does what Muster orders. */
  void follow(const Json& orders) {
    awaited_knock_ = orders["knock"].text();
    if (awaited_knock_.empty()) knock_.clear();
    const auto& wanted = orders["matches"].items();
    for (Match& one : matches_) {
      const auto is_it = [&one](const Json& order) { return order["id"].text() == one.id(); };
      if (std::any_of(wanted.begin(), wanted.end(), is_it)) continue;
      end(one, one.status == "over" ? "The match is over." : "Muster has ended the match.");
      one.status = "gone";
    }
    const auto is_gone = [](const Match& one) { return one.status == "gone"; };
    matches_.erase(std::remove_if(matches_.begin(), matches_.end(), is_gone), matches_.end());
    for (const Json& order : wanted) {
      Match* known = match_of(order["id"].text());
      if (known != nullptr) {
        const Json joined = known->update(order);
        if (!joined.items().empty()) tell(Json::object({{"joined", known->id()}, {"players", joined}}));
        continue;
      }
      matches_.emplace_back(order);
      if (is_stopping_)
        matches_.back().status = "refused";
      else
        tell(Json::object({{"match", matches_.back().seen()}}));
    }
    const auto reason = [&orders](const char* otherwise) {
      return orders["reason"].is_text() ? orders["reason"].text() : std::string(otherwise);
    };
    if (orders["want"].text() == "drain") drain(reason("wanted"));
    if (orders["want"].text() == "stop") stop(reason("no longer needed"), false);
    retry_admissions(true);
  }

  void drain(const std::string& reason) {
    if (is_draining_) return;
    is_draining_ = true;
    tell(Json::object({{"draining", reason}}));
    changed();
  }
  /** @param is_own_wish Muster has yet to hear of it */
  void stop(const std::string& reason, bool is_own_wish) {
    if (is_stopping_) return;
    is_stopping_ = true;
    is_own_wish_ = is_own_wish;
    for (Match& one : matches_) {
      end(one, "The server is to end: " + reason + ".");
      // Its players get another server now, and need not wait until the game has stopped.
      if (!is_own_wish || one.status != "loading") continue;
      one.give_up();
      changed();
    }
    stop_until_ = now_ + grace_ms;
    tell(Json::object({{"stop", reason}, {"until", *stop_until_ + wall_ahead_ms_}}));
  }
  void stopped() {
    if (!stop_until_) return;
    stop_until_.reset();
    if (!is_own_wish_) return finish();
    for (Match& one : matches_) one.give_up();
    changed();
    last_word_ = LastWord{now_ + last_word_ms, revision_};
  }
  void finish() {
    if (request_) tell(Json::object({{"abort", request_->number}}));
    request_.reset();
    due_at_.reset();
    for (const Awaited& one : awaited_) done(one.command);
    tell(Json::object({{"finished", true}}));
    is_finished_ = true;
  }

  void obey(const Json& input) {
    const std::string& what = input["do"].text();
    if (what == "start") {
      instance_ = input["instance"].text();
      enrols_ = detail::enrols_in(input["environment"]);
      registration_ = detail::registration_in(input["registration"], input["environment"]);
      due_at_ = now_;
      std::string fault;
      if (enrols_) detail::listed_ports_in(input["environment"], &fault);
      if (!fault.empty()) tell(Json::object({{"problem", detail::fault_of_port(fault)}}));
    } else if (what == "clock") {
      wall_ahead_ms_ = input["aheadMs"].number();
    } else if (what == "knock") {
      const std::string& text = input["text"].text();
      // Ignore a knock with another beginning, because anybody may have sent it.
      if (awaited_knock_.empty() || text == knock_ || text.rfind(awaited_knock_, 0) != 0) return;
      knock_ = text;
      changed();
    } else if (what == "healthy") {
      is_healthy_ = input["isHealthy"].boolean();
    } else if (what == "admit") {
      admissions_.push_back({input["command"].number(), input["token"].text(), now_ + seat_ms});
      if (admit(admissions_.back())) admissions_.pop_back();
    } else if (what == "left") {
      for (Match& one : matches_)
        if (one.leave(input["player"].text(), input["mayReturnMs"].number(), now_)) changed();
    } else if (what == "drain") {
      drain(input["reason"].text());
    } else if (what == "stop") {
      drain(input["reason"].text());
      stop(input["reason"].text(), true);
    } else if (what == "stopped") {
      stopped();
    } else {
      obey(input, match_of(input["match"].text()));
    }
  }
  /** A command about a match: `open`, `refuse`, `over` or `seats`. */
  void obey(const Json& input, Match* match) {
    const std::string& what = input["do"].text();
    const double command = input["command"].number();
    if (what == "open" || what == "refuse") {
      if (match == nullptr || match->status == "over") return;
      if (what == "open" && match->status != "loading") return;
      match->status = what == "open" ? "open" : "refused";
      return changed();
    }
    if (match == nullptr) return fail(command, {"match", "there is no such match"});
    if (what == "seats") {
      if (const auto fault = match->fault_of_seats(input["teams"])) return fail(command, *fault);
      match->seats = Json::object({{"open", input["open"]}});
      if (input.has("teams")) match->seats.set("teams", input["teams"]);
      return changed();
    }
    if (!match->told) {
      if (const auto fault = match->fault_of(input["result"])) return fail(command, *fault);
      match->result = input["result"];
      match->status = "over";
      match->seats = nullptr;
      changed();
      match->told = revision_;
    }
    if (*match->told <= acknowledged_) return done(command);
    awaited_.push_back({*match->told, command});
  }

  /** @returns whether it is decided */
  bool admit(const Admission& given) {
    const auto refuse = [this, &given](const char* code) {
      tell(Json::object({{"refused", given.command}, {"code", code}, {"message", sentence_of(code)}}));
      return true;
    };
    if (key_) {
      const JoinClaims read = read_join_token(given.token, *key_, now_ + muster_ahead_ms_.value_or(wall_ahead_ms_));
      if (read.refused != nullptr) return refuse(read.refused);
      Match* match = match_of(read.claims["mid"].text());
      const bool has_place = match != nullptr && match->status != "over" && !is_stopping_;
      const Json player = has_place ? match->player(read.claims) : Json();
      if (!player.is_null()) {
        const char* refused = match->enter(read.claims);
        if (refused != nullptr) return refuse(refused);
        changed();
        tell(Json::object({{"admitted", given.command}, {"player", player}}));
        return true;
      }
    }
    return now_ >= given.until || is_stopping_ ? refuse("other-match") : false;
  }
  /** @param is_heard whether orders have come; otherwise those alone are decided whose time is over */
  void retry_admissions(bool is_heard) {
    std::vector<Admission> waiting;
    for (const Admission& one : std::exchange(admissions_, {}))
      if ((!is_heard && one.until > now_) || !admit(one)) waiting.push_back(one);
    admissions_ = std::move(waiting);
  }

  void wake() {
    for (Match& match : matches_)
      for (auto& one : match.attendants) {
        if (!one.until || *one.until > now_) continue;
        one.until.reset();
        one.status = "left";
        changed();
      }
    retry_admissions(false);
    if (stop_until_ && *stop_until_ <= now_) stopped();
    if (!is_finished_ && last_word_ && last_word_->until <= now_) finish();
  }
  std::optional<double> next_wake() const {
    std::optional<double> next;
    const auto also = [&next](std::optional<double> at) {
      if (at) next = next ? std::min(*next, *at) : at;
    };
    if (is_finished_) return next;
    also(due_at_);
    also(stop_until_);
    if (last_word_) also(last_word_->until);
    for (const Admission& one : admissions_) also(one.until);
    for (const Match& match : matches_)
      for (const auto& one : match.attendants) also(one.until);
    return next;
  }

  struct LastWord {
    double until;
    double revision;
  };

  std::function<double()> random_;
  std::vector<Json> out_;
  double now_ = 0;
  std::string instance_;
  Json registration_;
  /** Whether it adds itself to a pool, and the token that it was given for the key; empty: none. */
  bool enrols_ = false;
  std::string token_;
  /** How the datagram begins by which Muster knocks, and the whole; empty: none. */
  std::string awaited_knock_, knock_;
  std::vector<Match> matches_;
  std::vector<Awaited> awaited_;
  std::vector<Admission> admissions_;
  std::optional<JoinKey> key_;
  /** By how much Muster's clock is ahead, in milliseconds; nothing until an answer has told its date. */
  std::optional<double> muster_ahead_ms_;
  /** By how much the machine's clock is ahead, as it was set since the start. */
  double wall_ahead_ms_ = 0;
  bool is_healthy_ = true, is_draining_ = false, is_stopping_ = false, is_own_wish_ = false, is_finished_ = false;
  /** Of the state, and of what Muster has of it. */
  double revision_ = 0, acknowledged_ = 0;
  double seq_ = 0, requests_ = 0;
  /** Of the orders; none: the server is not registered. */
  std::optional<double> version_;
  int failures_ = 0;
  /** True if the next report is the first one since the registration. */
  bool is_first_ = false;
  /** Number of registrations in a row whose first report was refused, e.g. with two Musters at one address. */
  int unheld_ = 0;
  int eager_ = 0;
  std::optional<Request> request_;
  /** When the next request is sent, if none is under way. */
  std::optional<double> due_at_;
  double spoke_at_ = -gap_ms;
  std::optional<double> stop_until_;
  std::optional<LastWord> last_word_;
  std::optional<double> wake_at_;
};

}  // namespace muster
