// Acts for players while `muster verify-server` tests the server: docs/game-server.md, Verify it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "driver.hpp"
#include "shapes.hpp"

namespace muster {
namespace detail {

/** Does what the verifier commands as if players had, one command after the other. Does nothing without a URL. */
template <typename Server>
class Verifier {
 public:
  /** @param url MUSTER_VERIFY_URL */
  Verifier(Transport* transport, Server& server, std::string url)
      : transport_(transport), server_(server), url_(std::move(url)) {}
  ~Verifier() {
    if (request_) transport_->abort(*request_);
  }
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;

  void update(double now) {
    if (const std::optional<Response> response = inbox_->take()) hear(*response, now);
    if (url_.empty() || is_busy_ || now < ask_at_) return;
    is_answer_ = false;
    send({"GET", url_, "", {}, 20000});
  }

 private:
  static constexpr double pause_ms = 500;

  /** Answers may come on any thread, and after the server is gone. */
  struct Inbox {
    void put(Response response) {
      const std::lock_guard<std::mutex> lock(mutex);
      came = std::move(response);
    }
    std::optional<Response> take() {
      const std::lock_guard<std::mutex> lock(mutex);
      return std::exchange(came, std::nullopt);
    }
    std::mutex mutex;
    std::optional<Response> came;
  };

  void send(const Request& request) {
    is_busy_ = true;
    request_ = transport_->send(request, [inbox = inbox_](const Response& response) { inbox->put(response); });
  }

  void hear(const Response& response, double now) {
    request_.reset();
    is_busy_ = false;
    if (response.status == 410) url_.clear();
    if (is_answer_ || response.status == 204) return;
    const Json command = Json::parse(response.body).value_or(Json());
    if (response.status != 200 || !fits("command", command)) {
      ask_at_ = now + pause_ms;
      return;
    }
    is_busy_ = true;
    const Json& id = command["id"];
    const std::string& what = command["do"].text();
    if (what == "admit") {
      server_.admit(command["token"].text(), [this, id](const auto* player, const std::string& refused) {
        const bool is_in = player != nullptr;
        answer(Json::object({{"id", id}, {"ok", is_in}, {is_in ? "player" : "why", is_in ? player->id : refused}}));
      });
      return;
    }
    if (what == "leave") server_.left(command["player"].text(), static_cast<int>(command["mayReturnMs"].number()));
    if (what == "over") server_.over(command["match"].text(), Json::object({{"data", "verified"}}));
    answer(Json::object({{"id", id}, {"ok", true}}));
  }

  void answer(Json result) {
    is_answer_ = true;
    result.set("by", "library");
    send({"POST", url_, result.dump(), {{"Content-Type", "application/json"}}, 10000});
  }

  Transport* transport_;
  Server& server_;
  std::string url_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::optional<std::uint64_t> request_;
  /** A request is under way, or a command. */
  bool is_busy_ = false;
  /** Whether the request that is under way says what came of a command. */
  bool is_answer_ = false;
  double ask_at_ = 0;
};

}  // namespace detail
}  // namespace muster
