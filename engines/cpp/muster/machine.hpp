// The client without its connection, as packages/client/src/machine.ts: answers and wishes in, requests and states out.
// It reads no clock, sends nothing and draws no random number of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
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
  // The jobs refer to it.
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /** @param at milliseconds of any clock that does not go backwards */
  std::vector<Json> step(const Json& input, double at) {
    // A timer may fire a fraction of a millisecond early, and there is no other.
    now_ = std::max({now_, at, input.has("wake") ? wake_at_.value_or(at) : at});
    out_.clear();
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
  /** Milliseconds between two looks at a group that gathers. */
  static constexpr double gather_ms = 1000;
  /** The first and the longest pause after a failure, before the jitter. */
  static constexpr double first_pause_ms = 500;
  static constexpr double longest_pause_ms = 15000;

  enum class Slot { me, enter, follow, act };
  using Command = std::optional<double>;
  using Take = std::function<void(const Json&)>;
  using Act = std::function<void()>;

  struct Job {
    const char* method;
    std::string path;
    Take good;
    /** What a refusal means. Default: the wish has failed. */
    Take refused = nullptr;
    /** The wish for which it is done; it fails with the job. */
    Command command = std::nullopt;
    Json body = nullptr;
    double wait_ms = 0;
    /** Of the request that is under way. */
    std::optional<double> request = std::nullopt;
    /** When it is sent (again). */
    double due_at = 0;
    int failures = 0;
  };

  /** Where the player is, as far as it is known. */
  struct Place {
    enum { nothing, group, ticket } in = nothing;
    /** Of the group or the ticket. */
    std::string id;
    std::string member;
    double version = 0;
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
  void erase(Slot slot) {
    jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), [slot](const auto& one) { return one.first == slot; }),
                jobs_.end());
  }
  void drop(Slot slot) {
    const Job* job = job_in(slot);
    if (job != nullptr && job->request) out_.push_back(Json::object({{"abort", *job->request}}));
    erase(slot);
  }
  void start(Slot slot, Job job, double in_ms = 0) {
    const Job* running = job_in(slot);
    const Command before = running != nullptr ? running->command : std::nullopt;
    drop(slot);
    fail(before, detail::superseded());
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

  void done(Command command) {
    if (command) out_.push_back(Json::object({{"done", *command}}));
  }
  void fail(Command command, const Json& refusal) {
    if (command) out_.push_back(Json::object({{"failed", *command}, {"refusal", refusal}}));
    if (command == search_) search_.reset();
  }
  void resumed() {
    for (const double command : std::exchange(resuming_, {})) done(command);
  }

  /** The player is in nothing any more. */
  void leave(const char* reason) { leave(std::optional<std::string>(reason)); }
  void leave(const std::optional<std::string>& reason) {
    for (const Slot slot : {Slot::follow, Slot::enter, Slot::me}) drop(slot);
    place_ = Place();
    wanted_.reset();
    const Command wish = std::exchange(search_, std::nullopt);
    if (cancelling_) {
      // What is to be cancelled is not there any more: a request that is repeated could cancel what comes next.
      drop(Slot::act);
      done(std::exchange(cancelling_, std::nullopt));
    }
    show(reason ? Json::object({{"phase", "ended"}, {"reason", *reason}}) : Json::object({{"phase", "idle"}}));
    resumed();
    if (!wish) return;
    fail(wish, Json::object({{"status", 0}, {"code", reason.value_or("gone")}, {"message", "The search has ended."}}));
  }

  /** @param nothing what to do if the player is in nothing; `after`: once it is shown what they are in */
  void look_up(Act nothing = nullptr, Act after = nullptr) {
    Job job{"GET", "/me", [this, nothing, after](const Json& me) {
              take_up(me, nothing);
              if (after) after();
              resumed();
            }};
    job.refused = [this](const Json& refusal) {
      for (const double command : std::exchange(resuming_, {})) fail(command, refusal);
    };
    start(Slot::me, std::move(job));
  }

  static const Json* first(const Json& list, const std::function<bool(const Json&)>& fits) {
    for (const Json& item : list.items())
      if (fits(item)) return &item;
    return nullptr;
  }

  void take_up(const Json& me, const Act& nothing) {
    drop(Slot::enter);
    wanted_.reset();
    const auto is_assigned = [](const Json& one) { return one["assignment"].is_object(); };
    const Json* match = first(me["matches"], is_assigned);
    const Json* seat = first(me["seats"], is_assigned);
    const Json* ticket = first(
        me["tickets"], [](const Json& one) { return one["status"].text() != "CANCELLED" && one["ended"].is_null(); });
    const Json* gathering = first(me["groups"], [](const Json& one) { return one["status"].text() == "FORMING"; });
    // What leads to a server comes first; a match that runs has a ticket as well.
    if (match != nullptr) return assigned((*match)["match_id"], (*match)["assignment"]);
    if (ticket != nullptr) {
      if (place_.in != Place::ticket || place_.id != (*ticket)["id"].text()) place_ = Place();
      return set_ticket(*ticket, true);
    }
    if (gathering != nullptr) return set_member(*gathering);
    if (seat != nullptr) return assigned(nullptr, (*seat)["assignment"]);
    if (nothing) return nothing();
    if (place_.in == Place::nothing && !cancelling_) return leave(std::nullopt);
    leave(cancelling_ ? "cancelled" : "gone");
  }

  void assigned(const Json& match_id, const Json& assignment) {
    for (const Slot slot : {Slot::follow, Slot::enter}) drop(slot);
    place_ = Place();
    wanted_.reset();
    const Json where = Json::object({{"fqdn", assignment["fqdn"]},
                                     {"ports", assignment["ports"]},
                                     {"joinToken", detail::text_or_null(assignment["join_token"])},
                                     {"city", detail::text_or_null(assignment["location"]["city"])}});
    show(Json::object({{"phase", "assigned"}, {"matchId", match_id}, {"assignment", where}}));
    if (cancelling_) {
      drop(Slot::act);
      fail(cancelling_, detail::too_late());
    }
    cancelling_.reset();
    done(search_);
    search_.reset();
  }

  /** @param is_followed whether it is what the player is in, and not an answer to something else */
  void set_ticket(const Json& ticket, bool is_followed) {
    const std::string& id = ticket["id"].text();
    const double version = ticket["version"].number();
    const bool is_known = place_.in == Place::ticket;
    if (is_known && (place_.id != id || version < place_.version)) return;
    if (!is_followed && !is_known) return;
    const bool is_new = !is_known || version > place_.version;
    place_ = Place{Place::ticket, id, "", version};
    const Json known = Json::object(
        {{"id", id}, {"queue", ticket["profile"]}, {"groupId", detail::text_or_null(ticket["group_id"])}});
    const std::string& status = ticket["status"].text();
    const Json& wait = ticket["estimated_wait"];
    if (status == "CANCELLED")
      return leave(ticket["cancel_reason"].is_text() ? ticket["cancel_reason"].text() : std::string("cancelled"));
    if (!ticket["ended"].is_null()) return leave(ticket["ended"]["reason"].text());
    if (status == "HOST_ASSIGNED" && ticket["assignment"].is_object())
      return assigned(ticket["match_id"], ticket["assignment"]);
    if (cancelling_) return cancel_ticket(*cancelling_);
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
    const std::string path = "/tickets/" + detail::encoded(place_.id) + "?wait=" + std::to_string(wait_seconds) +
                             "&version=" + detail::whole(place_.version);
    // The one that is under way asks for the same.
    const Job* asked = job_in(Slot::follow);
    if (asked != nullptr && asked->path == path) return;
    Job job{"GET", path, [this](const Json& answer) {
              set_ticket(answer, true);
              follow();
            }};
    job.refused = elsewhere();
    job.wait_ms = wait_seconds * 1000;
    start(Slot::follow, std::move(job));
  }

  /** What is known is not so any more. */
  Take elsewhere() {
    return [this](const Json&) { look_up(); };
  }

  void set_member(const Json& member) {
    const std::string& group = member["group_id"].text();
    place_ = Place{Place::group, group, member["member_id"].text(), 0};
    if (cancelling_) return leave_group(*cancelling_);
    if (member["ticket_id"].is_text()) return open_ticket(member["ticket_id"].text());
    if (member["status"].text() == "CANCELLED") return leave("cancelled");
    const bool is_same = is_in("gathering") && state_["group"]["id"].text() == group;
    const Json before = is_same ? state_["group"]["members"] : Json::array();
    const Json shown = Json::object({{"id", group}, {"isReady", member["is_ready"]}, {"members", before}});
    show(Json::object({{"phase", "gathering"}, {"group", shown}}));
    gather(0);
  }

  std::string own_place() const {
    return "/groups/" + detail::encoded(place_.id) + "/members/" + detail::encoded(place_.member);
  }

  void gather(double in_ms) {
    if (place_.in != Place::group) return;
    const std::string group = place_.id;
    Job job{"GET", "/groups/" + detail::encoded(group), [this, group](const Json& answer) {
              if (place_.in != Place::group || place_.id != group) return;
              if (answer["status"].text() != "FORMING") {
                Job own{"GET", own_place(), [this](const Json& member) { set_member(member); }};
                own.refused = elsewhere();
                return start(Slot::follow, std::move(own));
              }
              if (is_in("gathering")) {
                Json members = Json::array();
                for (const Json& one : answer["members"].items())
                  members.add(Json::object({{"playerId", one["player_id"]}, {"isReady", one["is_ready"]}}));
                Json shown = state_["group"];
                shown.set("members", members);
                show(Json::object({{"phase", "gathering"}, {"group", shown}}));
              }
              gather(gather_ms);
            }};
    job.refused = elsewhere();
    start(Slot::follow, std::move(job), in_ms);
  }

  void open_ticket(const std::string& ticket) {
    Job job{"GET", "/tickets/" + detail::encoded(ticket), [this](const Json& answer) {
              place_ = Place();
              set_ticket(answer, true);
            }};
    job.refused = elsewhere();
    start(Slot::follow, std::move(job));
  }

  void enter(double command) {
    if (!wanted_) return;
    const auto [path, body] = *wanted_;
    const bool is_group = path.rfind("/groups", 0) == 0;
    // An answer about what there was before would be taken for what there is. After a refusal it is asked for again.
    const bool was_asked = job_in(Slot::me) != nullptr;
    drop(Slot::me);
    Job job{"POST", path, [this, command, is_group](const Json& answer) {
              wanted_.reset();
              place_ = Place();
              is_group ? set_member(answer) : set_ticket(answer, true);
              resumed();
              if (is_group && is_in("gathering")) done(command);
            }};
    job.body = body;
    job.refused = [this, command, was_asked, is_group](const Json& refusal) {
      const std::string& code = refusal["code"].text();
      if (code != "player-busy" && code != "player-playing") {
        refuse(command, refusal);
        if (was_asked) look_up();
        return;
      }
      // What the player is in is taken up. If there is nothing any more, the refusal stands.
      const Act shown = [this, command, refusal] { is_in("gathering") ? done(command) : fail(command, refusal); };
      look_up([this, command, refusal] { refuse(command, refusal); }, is_group ? shown : nullptr);
    };
    start(Slot::enter, std::move(job));
  }

  /** The player is where they were before. */
  void refuse(double command, const Json& refusal) {
    wanted_.reset();
    fail(command, refusal);
    done(std::exchange(cancelling_, std::nullopt));
  }

  void cancel_ticket(double command) {
    if (place_.in == Place::ticket) take_out(command, "/tickets/" + detail::encoded(place_.id));
  }
  void leave_group(double command) { take_out(command, own_place()); }
  void take_out(double command, const std::string& path) {
    cancelling_ = command;
    Job job{"DELETE", path, [this](const Json&) { leave("cancelled"); }};
    // What there was is gone, or a server was assigned meanwhile.
    job.refused = [this](const Json& refusal) {
      if (refusal["status"].number() == 404) return leave("cancelled");
      fail(cancelling_, refusal);
      cancelling_.reset();
      look_up();
    };
    start(Slot::act, std::move(job));
  }

  void act(double command, const std::string& verb) {
    if (place_.in != Place::ticket) return fail(command, detail::nothing_to(verb));
    Job job{"POST", "/tickets/" + detail::encoded(place_.id) + "/" + verb, [this, command](const Json& answer) {
              set_ticket(answer, false);
              done(command);
            }};
    job.command = command;
    start(Slot::act, std::move(job));
  }

  void obey(const Json& input) {
    const double command = input["command"].number();
    const std::string& wish = input["do"].text();
    // A create that is under way is not overtaken: whether it came about would never be known.
    if (wish == "resume" && wanted_) return done(command);
    if (wish == "resume") {
      resuming_.push_back(command);
      const Job* asked = job_in(Slot::me);
      return asked != nullptr && asked->request ? void() : look_up();
    }
    if (wish == "play" || wish == "group") return search(command, input, wish == "play");
    if (wish == "ready") {
      if (place_.in != Place::group) return fail(command, detail::nothing_to("be ready for"));
      Job job{"PATCH", own_place(), [this, command](const Json& answer) {
                set_member(answer);
                done(command);
              }};
      job.body = Json::object({{"is_ready", input["isReady"]}});
      job.command = command;
      return start(Slot::act, std::move(job));
    }
    if (wish == "cancel") {
      if (place_.in == Place::ticket) return cancel_ticket(command);
      if (place_.in == Place::group) return leave_group(command);
      if (!wanted_) return done(command);
      cancelling_ = command;
      // Whether there is a ticket is known by the answer, or else by asking.
      const Job* entering = job_in(Slot::enter);
      if (entering != nullptr && entering->request) return;
      drop(Slot::enter);
      return look_up();
    }
    if (wish == "accept" || wish == "decline") return act(command, wish);
    is_closed_ = true;
    while (!jobs_.empty()) drop(jobs_.front().first);
    done(command);
  }

  void search(double command, const Json& input, bool is_play) {
    const bool is_busy = search_ || wanted_ || is_in("gathering") || is_in("found");
    const Json body = detail::body_of(input["request"]);
    if (is_play) {
      // The same search, taken up: the newest wish is told how it ends.
      done(search_);
      search_ = command;
      if (is_busy || is_in("searching")) return;
      wanted_ = {"/tickets", body};
    } else {
      if (is_busy || is_in("searching"))
        return fail(command, Json::object({{"status", 409},
                                           {"code", "player-busy"},
                                           {"message", "The player is in something already."}}));
      const Json& join = input["join"];
      wanted_ = {join.is_text() ? "/groups/" + detail::encoded(join.text()) + "/members" : "/groups",
                 Json(body).set("is_ready", false)};
    }
    enter(command);
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
    // Where nothing waits for the answer it is asked again, since a token that is wrong may be right later.
    const bool is_background =
        (slot == Slot::me && resuming_.empty()) || (slot == Slot::follow && status == 401);
    const bool is_passing = status == 0 || status == 429 || status >= 500 || (!is_good && is_background);
    job.request.reset();
    if (is_passing) {
      set_stale(stale_since_.value_or(now_));
      const double longest = std::min(first_pause_ms * std::pow(2, job.failures), longest_pause_ms);
      job.failures += 1;
      // The next answer comes at once, and tells that the connection is back.
      if (slot == Slot::follow) job.path = job.path.substr(0, job.path.find('?'));
      job.wait_ms = 0;
      job.due_at = now_ + std::max(retry_after_ms, std::floor(random_() * longest + 0.5));
      if (slot == Slot::enter && cancelling_) {
        drop(Slot::enter);
        look_up();
      }
      return;
    }
    const Job ended = std::move(job);
    jobs_.erase(found);
    set_stale(std::nullopt);
    if (is_good) return ended.good(body);
    const Json refusal = refusal_of(status, body, retry_after_ms);
    if (ended.refused)
      ended.refused(refusal);
    else
      fail(ended.command, refusal);
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
  /** Wishes to know what the player is in: one look answers all of them. */
  std::vector<double> resuming_;
  /** The wish that ends with a server, or without. */
  Command search_;
  /** What a search asks for if the player is in nothing: a path and a body. */
  std::optional<std::pair<std::string, Json>> wanted_;
  /** The wish to be taken out of what there is, although that is not known yet. */
  Command cancelling_;
  std::optional<double> wake_at_;
  bool is_closed_ = false;
};

}  // namespace muster
