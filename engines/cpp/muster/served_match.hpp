// A match on a game server: its roster, the players who are on it, and its part of the reports.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"

namespace muster {
namespace detail {

/** A call with a value that Muster would refuse: nothing has changed. */
struct Invalid {
  std::string field, said;
};

class ServedMatch {
 public:
  struct Attendant {
    /** The seat is empty of a player who never came. */
    std::string player, seat;
    /** Of the newest token. */
    double iat = 0;
    /** `in`, `away` or `left`; empty: they have left, and another seat since. */
    std::string_view status = "in";
    /** Until when their seat is kept, in epoch milliseconds. */
    std::optional<double> until;
  };

  explicit ServedMatch(const Json& order) : id_(order["id"].text()), queue_(order["profile"].text()) {
    attributes_ = Json::object();
    for (const char* kind : {"equality", "intersection"})
      for (const auto& [name, value] : order[kind].members()) attributes_.set(name, value);
    update(order);
  }

  const std::string& id() const { return id_; }
  /** The match as the game sees it. */
  Json seen() const {
    return Json::object({{"id", id_}, {"queue", queue_}, {"attributes", attributes_}, {"teams", teams_}});
  }
  /**
   * The player whose seat this is by the newest orders; null if there is none. A player who was removed has no seat, a
   * new seat voids the tokens of the one before, and who has left without having come is waited for.
   */
  Json player(const Json& claims) {
    const std::string& id = claims["sub"].text();
    const std::string& seat = claims["sid"].text();
    const Attendant* one = attendant(id);
    const bool has_left = one != nullptr && one->status == "left";
    const bool is_over = has_left || (one != nullptr && one->status == "");
    // A player who has left with this seat is refused at once, without waiting for newer orders.
    if (is_over && !one->seat.empty() && one->seat == seat) return players_[id];
    const Json& own = seats_[id];
    const bool is_good = seats_.has(id) && (!own.is_text() || own.text() == seat);
    return !is_good || (has_left && one->seat.empty()) ? Json() : players_[id];
  }

  /** Takes the roster of newer orders. @returns the players who are new, or have come again */
  Json update(const Json& order) {
    std::multiset<std::string> tickets;
    for (const Json& team : order["teams"].items())
      for (const Json& member : team["players"].items()) tickets.insert(member["ticket_id"].text());
    Json joined = Json::array();
    teams_ = Json::object();
    seats_ = Json::object();
    for (const Json& team : order["teams"].items()) {
      const std::string& name = team["name"].text();
      Json members = Json::array();
      for (const Json& member : team["players"].items()) {
        const std::string& id = member["id"].text();
        seats_.set(id, member["seat_id"]);
        const Json& ticket = member["ticket_id"];
        const Json& given = member["attributes"];
        const Json player = Json::object({{"id", id},
                                          {"matchId", id_},
                                          {"team", name.empty() ? Json() : Json(name)},
                                          {"groupId", tickets.count(ticket.text()) > 1 ? ticket : Json()},
                                          {"attributes", given.is_object() ? given : Json::object()}});
        const std::string& before = tickets_[id].text();
        const bool is_new = !players_.has(id) || (!before.empty() && !ticket.text().empty() && before != ticket.text());
        if (!ticket.text().empty()) tickets_.set(id, ticket);
        if (is_new) joined.add(player);
        // A player who has left got another seat. Nothing is reported about the player until they enter with it.
        Attendant* left = is_new ? attendant(id) : nullptr;
        if (left != nullptr && left->status == "left") left->status = "";
        players_.set(id, player);
        members.add(player);
      }
      teams_.set(name, members);
    }
    return joined;
  }

  /** @returns why the player of the token is not let in; null if they are */
  const char* enter(const Json& claims) {
    const std::string& player = claims["sub"].text();
    const double iat = claims["iat"].number();
    Attendant* before = attendant(player);
    if (before != nullptr && before->seat == claims["sid"].text()) {
      const bool is_fresh = before->status == "away" ? iat >= before->iat : iat > before->iat;
      if (before->status == "left" || before->status == "" || !is_fresh) return "used";
    }
    const Attendant entered{player, claims["sid"].text(), iat, "in", std::nullopt};
    if (before != nullptr)
      *before = entered;
    else
      attendants.push_back(entered);
    return nullptr;
  }

  /** A player has left, or will not come. @returns whether anything has changed */
  bool leave(const std::string& player, double may_return_ms, double now) {
    if (attendant(player) == nullptr && players_.has(player)) attendants.push_back({player, "", 0, "in", std::nullopt});
    Attendant* before = attendant(player);
    if (before == nullptr || before->status == "left" || before->status == "") return false;
    before->status = may_return_ms > 0 ? "away" : "left";
    before->until.reset();
    if (may_return_ms > 0) before->until = now + may_return_ms;
    return true;
  }

  /** What Muster would refuse of a result. */
  std::optional<Invalid> fault_of(const Json& given) const {
    std::set<std::string> ranked;
    std::optional<Invalid> twice, empty;
    if (given.is_null()) return std::nullopt;
    if (!given.is_object()) return Invalid{"result", "must be an object of `ranking` and `data`"};
    for (const auto& [name, value] : given.members())
      if (name != "ranking" && name != "data")
        return Invalid{"result", "has the unknown member " + Json(name).dump() + ": put it into `data`"};
    const Invalid no_lists{"ranking", "must be a list of lists of player ids"};
    if (given.has("ranking") && !given["ranking"].is_array()) return no_lists;
    for (const Json& rank : given["ranking"].items())
      if (!rank.is_array()) return no_lists;
    for (const Json& rank : given["ranking"].items()) {
      if (rank.items().empty()) empty = Invalid{"ranking", "has a rank without players"};
      for (const Json& one : rank.items()) {
        if (!one.is_text() || !players_.has(one.text()))
          return Invalid{"ranking", one.dump() + " is not a player of the match"};
        if (!ranked.insert(one.text()).second && !twice) twice = Invalid{"ranking", "lists " + one.dump() + " twice"};
      }
    }
    if (twice || empty) return twice ? twice : empty;
    const std::size_t bytes = given.dump().size();
    if (bytes <= largest_result_bytes) return std::nullopt;
    const std::string most = std::to_string(largest_result_bytes);
    return Invalid{"data", "the result must have at most " + most + " bytes as JSON, got " + std::to_string(bytes)};
  }

  /** What Muster would refuse of the seats that are wanted. */
  std::optional<Invalid> fault_of_seats(const Json& wanted) const {
    for (const auto& [team, count] : wanted.members()) {
      if (!teams_.has(team)) return Invalid{"teams." + team, "the match has no such team"};
      const double number = count.number();
      if (!count.is_number() || number < 0 || number > 1000 || number != std::floor(number))
        return Invalid{"teams." + team, "must be a whole number up to 1,000, got " + count.dump()};
    }
    return std::nullopt;
  }

  Json report() const {
    Json statuses = Json::object();
    // Muster knows of players who have left and are no longer in its orders. In a long match these become many.
    for (const Attendant& one : attendants)
      if (one.status != "" && (one.status != "left" || seats_.has(one.player))) statuses.set(one.player, one.status);
    // A ranking may contain players who never came.
    for (const Json& rank : result["ranking"].items())
      for (const Json& one : rank.items())
        if (!statuses.has(one.text())) statuses.set(one.text(), "left");
    Json made = Json::object({{"id", id_}, {"status", status}, {"players", statuses}});
    if (!seats.is_null()) made.set("seats", seats);
    if (!result.is_null()) made.set("result", result);
    return made;
  }

  /** Ends an unfinished match without a result. A match to which no player was sent yet goes to another server. */
  void give_up() {
    if (status == "over") return;
    status = status == "open" ? "over" : "refused";
    seats = nullptr;
  }

  std::string status = "loading";
  std::vector<Attendant> attendants;
  Json seats, result;
  /** The revision with which Muster hears of its end. */
  std::optional<double> told;
  /** Whether the game knows that it has ended. */
  bool is_ended = false;

 private:
  static constexpr std::size_t largest_result_bytes = 8192;

  Attendant* attendant(const std::string& player) {
    for (Attendant& one : attendants)
      if (one.player == player) return &one;
    return nullptr;
  }

  std::string id_, queue_;
  Json attributes_, teams_;
  /** The seats of those whom the newest orders name; null where Muster does not say it. */
  Json seats_ = Json::object();
  /** By id: those who were matched, and those who came since. */
  Json players_ = Json::object();
  /** The tickets of players, as far as Muster says them. */
  Json tickets_ = Json::object();
};

}  // namespace detail
}  // namespace muster
