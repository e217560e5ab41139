// Sends the requests of a machine. Everything happens in update(), on the thread that calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"

namespace muster {

/**
 * Epoch milliseconds at the start of the process, and monotonic since: whoever sets the clock of the machine changes no
 * wait. Dates of tokens are compared by Muster's clock, which its answers tell.
 */
inline std::int64_t clock_ms() {
  const auto in_ms = [](auto time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  };
  static const auto began = in_ms(std::chrono::system_clock::now()) - in_ms(std::chrono::steady_clock::now());
  return began + in_ms(std::chrono::steady_clock::now());
}

/** By how many milliseconds the machine's clock is ahead of `clock_ms`, as it was set since, or the machine slept. */
inline std::int64_t clock_step_ms() {
  const auto date = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(date).count() - clock_ms();
}

struct Request {
  std::string method, url, body;
  std::vector<std::pair<std::string, std::string>> headers;
  /** Until an answer counts as lost. */
  int timeout_ms = 0;
};

/** Status 0: no answer came. */
struct Response {
  int status = 0;
  std::string body;
  /** The headers of these names; empty if there are none. */
  std::string retry_after, date;
};

/** Sends requests: libcurl (muster/curl_transport.hpp), FHttpModule of Unreal (engines/unreal), or your own. */
class Transport {
 public:
  virtual ~Transport() = default;
  /**
   * Sends a request. `done` is called once, on any thread, now or later; after abort() it need not be called.
   * @returns a number for abort()
   */
  virtual std::uint64_t send(const Request& request, std::function<void(Response)> done) = 0;
  virtual void abort(std::uint64_t id) = 0;
  /** Called by each update(), for transports that do their work there. */
  virtual void poll() {}
};

namespace detail {

/** From 0 to 1. */
inline std::function<double()> system_random() {
  const auto engine = std::make_shared<std::mt19937>(std::random_device{}());
  return [engine] { return std::uniform_real_distribution<double>(0, 1)(*engine); };
}

template <typename Machine>
class Driver {
 public:
  using Token = std::function<std::string()>;
  /** Reads an answer into what the machine is told of it, beside its number. */
  using Read = Json (*)(const Response&);

  Driver(std::string url, Token token, Transport* transport, Read read)
      : machine_(system_random()), url_(std::move(url)), token_(std::move(token)), transport_(transport), read_(read) {
    while (!url_.empty() && url_.back() == '/') url_.pop_back();
  }
  ~Driver() {
    for (const auto& [request, id] : under_way_) transport_->abort(id);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void put(Json input) { inbox_->put(std::move(input)); }

  /** @param tell is told what is neither a request nor a time */
  void update(double now, const std::function<void(const Json&)>& tell) {
    transport_->poll();
    // Handle the wake-up first, because a response may change the time of the next one.
    if (wake_at_ >= 0 && wake_at_ <= now) step(Json::object({{"wake", true}}), now, tell);
    // A callback may issue a command while it handles an output.
    for (auto inputs = inbox_->take(); !inputs.empty(); inputs = inbox_->take())
      for (const Json& input : inputs) {
        if (input.has("answer")) under_way_.erase(input["answer"].number());
        step(input, now, tell);
      }
  }

 private:
  /** Answers may come on any thread, and after the client is gone. */
  class Inbox {
   public:
    void put(Json input) {
      const std::lock_guard<std::mutex> lock(mutex_);
      inputs_.push_back(std::move(input));
    }
    std::vector<Json> take() {
      const std::lock_guard<std::mutex> lock(mutex_);
      return std::exchange(inputs_, {});
    }

   private:
    std::mutex mutex_;
    std::vector<Json> inputs_;
  };

  /** Milliseconds until an answer counts as lost, beside the time for which it may be held. */
  static constexpr int answer_ms = 10000;

  void step(const Json& input, double now, const std::function<void(const Json&)>& tell) {
    for (const Json& output : machine_.step(input, now)) carry_out(output, tell);
  }

  void carry_out(const Json& output, const std::function<void(const Json&)>& tell) {
    if (output.has("request")) {
      const double number = output["request"].number();
      const Json& body = output["body"];
      Request request{output["method"].text(), url_ + output["path"].text(), body.is_null() ? "" : body.dump(), {}, 0};
      // A machine with its own token sends it instead of the player's.
      const std::string token = output.has("token") ? output["token"].text() : token_ ? token_() : "";
      if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
      if (!body.is_null()) request.headers.emplace_back("Content-Type", "application/json");
      request.timeout_ms = static_cast<int>(output["waitMs"].number()) + answer_ms;
      under_way_[number] = transport_->send(request, [inbox = inbox_, number, read = read_](const Response& response) {
        inbox->put(read(response).set("answer", number));
      });
    } else if (output.has("abort")) {
      const auto found = under_way_.find(output["abort"].number());
      if (found == under_way_.end()) return;
      transport_->abort(found->second);
      under_way_.erase(found);
    } else if (output.has("wakeAt")) {
      wake_at_ = output["wakeAt"].is_number() ? output["wakeAt"].number() : -1;
    } else {
      tell(output);
    }
  }

  Machine machine_;
  std::string url_;
  Token token_;
  Transport* transport_;
  Read read_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  /** The transport's number by that of the request. */
  std::map<double, std::uint64_t> under_way_;
  double wake_at_ = -1;
};

inline double retry_after_ms(const Response& response) {
  const double seconds = std::atof(response.retry_after.c_str());
  return seconds > 0 ? seconds * 1000 : 0;
}

}  // namespace detail
}  // namespace muster
