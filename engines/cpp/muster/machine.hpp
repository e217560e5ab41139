// The client's logic without a connection, like packages/client/src/machine.ts. Inputs are responses and commands,
// outputs are requests and states. It reads no clock, sends nothing and draws no random numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire.hpp"

namespace muster {

/** The state machine of a client. Inputs and outputs are those of engines/transcript.jsonl. */
class Machine {
 public:
  /** @param random from 0 to 1: spreads what many clients would otherwise do at the same moment */
  explicit Machine(std::function<double()> random) : random_(std::move(random)) {}
  // Not copyable, because the jobs hold references to it.
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /** @param at milliseconds of any clock that does not go backwards */
  std::vector<Json> step(const Json& input, double at) {
    // A timer may fire a fraction of a millisecond early, and no second timer would follow.
    now_ = std::max({now_, at, input.has("wake") ? wake_at_.value_or(at) : at});
    out_.clear();
    if (is_closed_ && input.has("do")) fail(input["command"].number(), detail::closed());
    if (is_closed_) return out_;
    if (input.has("do"))
      obey(input);
    else if (input.has("answer"))
      take(input);
    for (auto& [slot, job] : jobs_)
      if (!job.request && job.due_at <= now_) send(job);
    std::optional<double> next;
    for (const auto& [slot, job] : jobs_)
      if (!job.request) next = next ? std::min(*next, job.due_at) : job.due_at;
    if (next != wake_at_) out_.push_back(Json::object({{"wakeAt", next ? Json(*next) : Json()}}));
    wake_at_ = next;
    return out_;
  }

 private:
  /** Seconds for which Muster holds a long poll: proxies cut connections that are silent for longer. */
  static constexpr int wait_seconds = 25;
  /** Milliseconds between two looks at a group that gathers, and two long polls for a change of one version. */
  static constexpr double gather_ms = 1000;
  /** The first and the longest pause after a failure, before the jitter. */
  static constexpr double first_pause_ms = 500;
  static constexpr double longest_pause_ms = 15000;

  enum class Slot { me, enter, follow, act };
  /** What ends a command: all of a kind end at once. */
  enum class Kind {
    /** With what the player is in. */
    resume,
    /** With a server, or without. */
    search,
    /** With a group. */
    group,
    /** With nothing that the player is in, although what there is may not be known yet. */
    cancel,
    /** With the answer to the job `act`. */
    act
  };
  using Take = std::function<void(const Json&)>;

  struct Job {
    const char* method;
    std::string path;
    Take good;
    Take refused = nullptr;
    Json body = nullptr;
    double wait_ms = 0;
    /** Of the request that is under way. */
    std::optional<double> request = std::nullopt;
    /** When it is sent (again). */
    double due_at = 0;
    int failures = 0;
    /** Of a good answer; none: whatever it says. */
    const char* shape = nullptr;
  };

  /** Where the player is, as far as it is known. */
  struct Place {
    enum { nothing, group, ticket } in = nothing;
    std::string id, member;
    double version = 0;
    Json match = nullptr;
  };

  void show(const Json& shown) {
    Json next = shown;
    if (stale_since_) next.set("stale", *stale_since_);
    if (next == state_) return;
    state_ = next;
    out_.push_back(Json::object({{"state", next}}));
  }
  void set_stale(std::optional<double> since) {
    if (stale_since_.has_value() == since.has_value()) return;
    stale_since_ = since;
    show(state_.without("stale"));
  }
  bool is_in(const char* phase) const { return state_["phase"].text() == phase; }

  Job* job_in(Slot slot) {
    for (auto& [taken, job] : jobs_)
      if (taken == slot) return &job;
    return nullptr;
  }
  bool is_under_way(Slot slot) {
    const Job* job = job_in(slot);
    return job != nullptr && job->request;
  }
  void erase(Slot slot) {
    jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), [slot](const auto& one) { return one.first == slot; }),
                jobs_.end());
  }
  void drop(Slot slot) {
    const Job* job = job_in(slot);
    if (job != nullptr && job->request) out_.push_back(Json::object({{"abort", *job->request}}));
    erase(slot);
    if (slot == Slot::act) fail_all(Kind::act, detail::superseded());
  }
  void start(Slot slot, Job job, double in_ms = 0) {
    drop(slot);
    job.due_at = now_ + in_ms;
    jobs_.emplace_back(slot, std::move(job));
  }
  void send(Job& job) {
    requests_ += 1;
    job.request = requests_;
    Json request = Json::object({{"request", requests_}, {"method", job.method}, {"path", job.path}});
    if (!job.body.is_null()) request.set("body", job.body);
    out_.push_back(request.set("waitMs", job.wait_ms));
  }

  void done(double command) { out_.push_back(Json::object({{"done", command}})); }
  void fail(double command, const Json& refusal) {
    out_.push_back(Json::object({{"failed", command}, {"refusal", refusal}}));
  }
  void done_all(Kind kind) {
    for (const double command : std::exchange(waiting_[kind], {})) done(command);
  }
  void fail_all(Kind kind, const Json& refusal) {
    for (const double command : std::exchange(waiting_[kind], {})) fail(command, refusal);
  }
  bool is_cancelling() { return !waiting_[Kind::cancel].empty(); }

  /** The player is in nothing any more. */
  void leave(const char* reason) { leave(std::optional<std::string>(reason)); }
  void leave(const std::optional<std::string>& reason) {
    for (const Slot slot : {Slot::follow, Slot::me}) drop(slot);
    place_ = Place();
    // The object of a pending cancel is gone. Drop the request: repeating it could cancel a later ticket.
    if (is_cancelling()) drop(Slot::act);
    done_all(Kind::cancel);
    show(reason ? Json::object({{"phase", "ended"}, {"reason", *reason}}) : Json::object({{"phase", "idle"}}));
    done_all(Kind::resume);
    fail_all(Kind::search, detail::refusal(0, reason.value_or("gone"), "The search has ended."));
  }

  void look_up() {
    Job job{"GET", "/me", [this](const Json& me) {
              const Json refusal = entering_.value_or(nullptr);
              entering_.reset();
              take_up(me, refusal);
              if (is_in("gathering"))
                done_all(Kind::group);
              else if (!refusal.is_null())
                fail_all(Kind::group, refusal);
              done_all(Kind::resume);
            }};
    job.shape = "me";
    job.refused = [this](const Json& refusal) {
      fail_all(Kind::resume, refusal);
      // Another pending command needs the response too.
      if (entering_ || (place_.in != Place::nothing && job_in(Slot::follow) == nullptr)) look_up();
    };
    start(Slot::me, std::move(job));
  }
  /** A look that is under way is the answer, too. */
  void look() {
    if (!is_under_way(Slot::me)) look_up();
  }

  /** @param refusal stands if the player is in nothing */
  void take_up(const Json& me, const Json& refusal) {
    const auto is_assigned = [](const Json& one) { return one["assignment"].is_object(); };
    const Json* match = detail::first(me["matches"], is_assigned);
    const Json* seat = detail::first(me["seats"], is_assigned);
    const Json* ticket = detail::first(
        me["tickets"], [](const Json& one) { return one["status"].text() != "CANCELLED" && one["ended"].is_null(); });
    const auto is_forming = [](const Json& one) { return one["status"].text() == "FORMING"; };
    const Json* gathering = detail::first(me["groups"], is_forming);
    // A match with a server comes first. A running match has a ticket as well.
    if (match != nullptr) return assigned((*match)["match_id"], (*match)["assignment"]);
    if (ticket != nullptr) {
      if (place_.in != Place::ticket || place_.id != (*ticket)["id"].text()) place_ = Place();
      return set_ticket(*ticket, true);
    }
    if (gathering != nullptr) return set_member(*gathering);
    if (seat != nullptr) return assigned(nullptr, (*seat)["assignment"]);
    if (!refusal.is_null()) return refuse(refusal);
    if (is_cancelling()) return leave("cancelled");
    leave(place_.in == Place::nothing ? std::nullopt : std::optional<std::string>("gone"));
  }

  void assigned(const Json& match_id, const Json& given) {
    drop(Slot::follow);
    place_ = Place();
    show(Json::object({{"phase", "assigned"}, {"matchId", match_id}, {"assignment", detail::assignment_of(given)}}));
    if (is_cancelling()) drop(Slot::act);
    fail_all(Kind::cancel, detail::too_late());
    done_all(Kind::search);
  }

  /** @param is_followed whether it is what the player is in, and not an answer to something else */
  void set_ticket(const Json& ticket, bool is_followed) {
    const std::string& id = ticket["id"].text();
    const double version = ticket["version"].number();
    const bool is_known = place_.in == Place::ticket;
    if (is_known && (place_.id != id || version < place_.version)) return follow();
    if (!is_followed && !is_known) return;
    const bool is_new = !is_known || version > place_.version;
    place_ = Place{Place::ticket, id, "", version, detail::text_or_null(ticket["match_id"])};
    const Json known = Json::object(
        {{"id", id}, {"queue", ticket["profile"]}, {"groupId", detail::text_or_null(ticket["group_id"])}});
    const std::string& status = ticket["status"].text();
    const Json& wait = ticket["estimated_wait"];
    if (status == "CANCELLED")
      return leave(ticket["cancel_reason"].is_text() ? ticket["cancel_reason"].text() : std::string("cancelled"));
    if (!ticket["ended"].is_null()) return leave(ticket["ended"]["reason"].text());
    if (status == "HOST_ASSIGNED" && ticket["assignment"].is_object())
      return assigned(ticket["match_id"], ticket["assignment"]);
    if (is_cancelling()) return take_out();
    if (is_new || is_followed) {
      const Json waits = Json::object({{"p50Seconds", wait["p50_seconds"]}, {"p90Seconds", wait["p90_seconds"]}});
      if (status == "SEARCHING")
        show(Json::object({{"phase", "searching"}, {"ticket", known}, {"wait", wait.is_object() ? waits : Json()}}));
      else
        show(Json::object({{"phase", "found"}, {"ticket", known}, {"acceptance", ticket["acceptance"]}}));
    }
    follow();
  }

  void follow() {
    if (place_.in != Place::ticket) return;
    const std::string path =
        own_path() + "?wait=" + std::to_string(wait_seconds) + "&version=" + detail::whole(place_.version);
    // The request in flight is the same one.
    const Job* asked = job_in(Slot::follow);
    if (asked != nullptr && asked->path == path) return;
    Job job{"GET", path, [this](const Json& answer) { set_ticket(answer, true); }};
    job.refused = elsewhere();
    job.shape = "ticket";
    job.wait_ms = wait_seconds * 1000;
    const double in_ms = polled_.first == path ? std::max(0.0, polled_.second + gather_ms - now_) : 0;
    polled_ = {path, now_ + in_ms};
    start(Slot::follow, std::move(job), in_ms);
  }

  /** What is known is not so any more. */
  Take elsewhere() {
    return [this](const Json&) { look_up(); };
  }

  void set_member(const Json& member) {
    const std::string& group = member["group_id"].text();
    place_ = Place{Place::group, group, member["member_id"].text()};
    if (is_cancelling()) return take_out();
    if (member["ticket_id"].is_text()) return open_ticket(member["ticket_id"].text());
    if (member["status"].text() == "CANCELLED") return leave("cancelled");
    const bool is_same = is_in("gathering") && state_["group"]["id"].text() == group;
    Json shown = is_same ? state_["group"] : Json::object({{"members", Json::array()}, {"waitingFor", Json::array()}});
    shown.set("id", group).set("isReady", member["is_ready"]);
    show(Json::object({{"phase", "gathering"}, {"group", shown}}));
    gather(0);
  }

  /** Of the ticket, or the player's place in the group. */
  std::string own_path() const {
    if (place_.in == Place::ticket) return "/tickets/" + detail::encoded(place_.id);
    return "/groups/" + detail::encoded(place_.id) + "/members/" + detail::encoded(place_.member);
  }

  void gather(double in_ms) {
    if (place_.in != Place::group) return;
    const std::string group = place_.id;
    Job job{"GET", "/groups/" + detail::encoded(group), [this, group](const Json& answer) {
              if (place_.in != Place::group || place_.id != group) return;
              if (answer["status"].text() != "FORMING") {
                Job own{"GET", own_path(), [this](const Json& member) { set_member(member); }};
                own.refused = elsewhere();
                own.shape = "member";
                return start(Slot::follow, std::move(own));
              }
              if (is_in("gathering")) {
                Json members = Json::array(), waiting = Json::array();
                for (const Json& one : answer["members"].items()) {
                  members.add(Json::object({{"playerId", one["player_id"]}, {"isReady", one["is_ready"]}}));
                  if (!one["is_ready"].boolean()) waiting.add(one["player_id"]);
                }
                Json shown = state_["group"];
                shown.set("members", members).set("waitingFor", waiting);
                show(Json::object({{"phase", "gathering"}, {"group", shown}}));
              }
              gather(gather_ms);
            }};
    job.refused = elsewhere();
    job.shape = "group";
    start(Slot::follow, std::move(job), in_ms);
  }

  void open_ticket(const std::string& ticket) {
    Job job{"GET", "/tickets/" + detail::encoded(ticket), [this](const Json& answer) {
              place_ = Place();
              set_ticket(answer, true);
            }};
    job.refused = elsewhere();
    job.shape = "ticket";
    start(Slot::follow, std::move(job));
  }

  void enter(const std::string& path, const Json& body) {
    entering_ = nullptr;
    // The response to an earlier read would show an outdated state. After a refusal, the state is read again.
    drop(Slot::me);
    Job job{"POST", path, [this, path](const Json& answer) {
              entering_.reset();
              path == "/tickets" ? set_ticket(answer, true) : set_member(answer);
              done_all(Kind::resume);
              done_all(Kind::group);
            }};
    job.body = body;
    job.shape = path == "/tickets" ? "ticket" : "member";
    job.refused = [this](const Json& refusal) {
      // Continue with the player's present ticket, group or match. If there is none any more, report the refusal.
      const std::string& code = refusal["code"].text();
      const bool is_busy = code == "player-busy" || code == "player-playing";
      if (is_busy)
        entering_ = refusal;
      else
        refuse(refusal);
      if (is_busy || !waiting_[Kind::resume].empty()) look_up();
    };
    start(Slot::enter, std::move(job));
  }

  /** The player is where they were before. */
  void refuse(const Json& refusal) {
    entering_.reset();
    fail_all(Kind::search, refusal);
    fail_all(Kind::group, refusal);
    done_all(Kind::cancel);
  }

  void take_out() {
    const std::string path = own_path();
    const Job* asked = job_in(Slot::act);
    // The request in flight is the same one.
    if (asked != nullptr && asked->method == std::string("DELETE") && asked->path == path) return;
    Job job{"DELETE", path, [this](const Json&) { leave("cancelled"); }};
    job.refused = [this](const Json& refusal) {
      // The ticket or group no longer exists, or a server was assigned meanwhile.
      if (refusal["status"].number() == 404) return leave("cancelled");
      fail_all(Kind::cancel, refusal);
      look_up();
    };
    start(Slot::act, std::move(job));
  }

  void act(double command, Job job) {
    // A cancel is pending, so the player must be taken out, whatever the outcome of this request.
    if (is_cancelling()) return fail(command, detail::superseded());
    job.good = [this, good = job.good](const Json& answer) {
      good(answer);
      done_all(Kind::act);
    };
    job.refused = [this](const Json& refusal) { fail_all(Kind::act, refusal); };
    start(Slot::act, std::move(job));
    waiting_[Kind::act].push_back(command);
  }

  void obey(const Json& input) {
    const double command = input["command"].number();
    const std::string& what = input["do"].text();
    const bool is_busy = entering_ || place_.in != Place::nothing;
    if (what == "resume") {
      // Wait for a create in flight. Otherwise nobody would learn whether its ticket was created.
      if (entering_) return done(command);
      waiting_[Kind::resume].push_back(command);
      look();
    } else if (what == "play") {
      // A player who already has a ticket, group or match continues with it.
      waiting_[Kind::search].push_back(command);
      if (!is_busy) enter("/tickets", detail::body_of(input["request"]));
    } else if (what == "group") {
      if (is_busy) return fail(command, detail::busy());
      waiting_[Kind::group].push_back(command);
      const Json& join = input["join"];
      enter(join.is_text() ? "/groups/" + detail::encoded(join.text()) + "/members" : "/groups",
            detail::body_of(input["request"]).set("is_ready", false));
    } else if (what == "ready") {
      if (place_.in != Place::group) return fail(command, detail::nothing_to("be ready for"));
      Job job{"PATCH", own_path(), [this, own = place_.member](const Json& answer) {
                if (place_.in == Place::group && place_.member == own) set_member(answer);
              }};
      job.body = Json::object({{"is_ready", input["isReady"]}});
      job.shape = "member";
      act(command, std::move(job));
    } else if (what == "accept" || what == "decline") {
      if (place_.in != Place::ticket) return fail(command, detail::nothing_to(what));
      Job job{"POST", own_path() + "/" + what, [this](const Json& answer) { set_ticket(answer, false); }};
      job.body = detail::seen_match(place_.match);
      job.shape = "ticket";
      act(command, std::move(job));
    } else if (what == "cancel") {
      if (!is_busy) return done(command);
      waiting_[Kind::cancel].push_back(command);
      fail_all(Kind::group, detail::superseded());
      if (place_.in != Place::nothing) return take_out();
      // The response to the create will tell whether there is a ticket. Otherwise, ask Muster.
      if (is_under_way(Slot::enter)) return;
      drop(Slot::enter);
      look();
    } else {
      is_closed_ = true;
      for (const Kind kind : {Kind::resume, Kind::search, Kind::group, Kind::cancel, Kind::act})
        fail_all(kind, detail::closed());
      while (!jobs_.empty()) drop(jobs_.front().first);
      done(command);
    }
  }

  void take(const Json& input) {
    const double answer = input["answer"].number(), status = input["status"].number();
    const double retry_after_ms = input["retryAfterMs"].number();
    const Json& body = input["body"];
    const auto found =
        std::find_if(jobs_.begin(), jobs_.end(), [answer](const auto& one) { return one.second.request == answer; });
    if (found == jobs_.end()) return;
    auto& [slot, job] = *found;
    const bool is_good = status >= 200 && status < 300;
    // If no command waits for the response, repeat the request: an invalid token may be valid later.
    const bool is_background =
        (slot == Slot::me && waiting_[Kind::resume].empty()) || (slot == Slot::follow && status == 401);
    // A malformed response counts as none. Only a command that waits for exactly this response gets an error.
    const bool is_wrong = is_good && job.shape != nullptr && !detail::fits(job.shape, body);
    if (is_wrong && slot == Slot::me) fail_all(Kind::resume, detail::wrong_answer());
    if (is_wrong && slot == Slot::act) fail_all(Kind::act, detail::wrong_answer());
    const bool is_late = status == 0 || status == 408 || status == 429;
    job.request.reset();
    if (is_wrong || is_late || status >= 500 || (!is_good && is_background)) {
      set_stale(stale_since_.value_or(now_));
      const double longest = std::min(first_pause_ms * std::pow(2, job.failures), longest_pause_ms);
      job.failures += 1;
      // Without a version, the next long poll is answered at once, which proves that the connection works again.
      if (slot == Slot::follow) job.path = job.path.substr(0, job.path.find('?'));
      job.wait_ms = 0;
      const double wanted = std::min(retry_after_ms, detail::longest_retry_ms);
      job.due_at = now_ + std::max(wanted, std::floor(random_() * longest + 0.5));
      if (slot == Slot::enter && is_cancelling()) {
        drop(Slot::enter);
        look_up();
      }
      return;
    }
    const Job ended = std::move(job);
    jobs_.erase(found);
    set_stale(std::nullopt);
    if (is_good) return ended.good(body);
    ended.refused(refusal_of(status, body, retry_after_ms));
  }

  std::function<double()> random_;
  /** In the order in which they were started. */
  std::vector<std::pair<Slot, Job>> jobs_;
  std::vector<Json> out_;
  double now_ = 0;
  double requests_ = 0;
  Json state_ = Json::object({{"phase", "idle"}});
  std::optional<double> stale_since_;
  Place place_;
  /** Commands that have no answer. */
  std::map<Kind, std::vector<double>> waiting_;
  /** A create is not settled: it has no answer (null), or this refusal, which says that the player is in something. */
  std::optional<Json> entering_;
  /** The latest long poll, and when it is sent. */
  std::pair<std::string, double> polled_;
  std::optional<double> wake_at_;
  bool is_closed_ = false;
};

}  // namespace muster
