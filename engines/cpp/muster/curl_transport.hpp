// A transport with libcurl (7.66 or later). It works in update(), without a thread.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "driver.hpp"

namespace muster {

class CurlTransport final : public Transport {
 public:
  CurlTransport() : multi_(curl_multi_init()) {}
  ~CurlTransport() override {
    while (!under_way_.empty()) abort(under_way_.begin()->first);
    curl_multi_cleanup(multi_);
  }
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  std::uint64_t send(const Request& request, std::function<void(Response)> done) override {
    auto sent = std::make_unique<Sent>();
    sent->id = ++count_;
    sent->done = std::move(done);
    sent->body = request.body;
    for (const auto& [name, value] : request.headers)
      sent->headers = curl_slist_append(sent->headers, (name + ": " + value).c_str());
    // Proxies may refuse a POST without Content-Length. libcurl sends the header for a form, so an empty form is
    // posted, without its content type.
    const bool is_form = sent->body.empty() && request.method == "POST";
    if (is_form) sent->headers = curl_slist_append(sent->headers, "Content-Type:");
    CURL* easy = sent->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, sent->headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, sent.get());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, sent.get());
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, read_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, sent.get());
    if (!sent->body.empty() || is_form) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(sent->body.size()));
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, sent->body.c_str());
    }
    curl_multi_add_handle(multi_, easy);
    const std::uint64_t id = sent->id;
    under_way_[id] = std::move(sent);
    return id;
  }

  void abort(std::uint64_t id) override {
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) return;
    release(*found->second);
    under_way_.erase(found);
  }

  void poll() override {
    int running = 0, left = 0;
    curl_multi_perform(multi_, &running);
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const bool is_answered = message->data.result == CURLE_OK;
      Sent* sent = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &sent);
      long status = 0;
      curl_easy_getinfo(sent->easy, CURLINFO_RESPONSE_CODE, &status);
      sent->response.status = static_cast<int>(status);
      const Response response = is_answered ? std::move(sent->response) : Response();
      const auto done = std::move(sent->done);
      abort(sent->id);
      done(response);
    }
  }

 private:
  struct Sent {
    std::uint64_t id = 0;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string body;
    Response response;
    std::function<void(Response)> done;
  };

  static std::size_t write_body(char* data, std::size_t size, std::size_t count, void* to) {
    static_cast<Sent*>(to)->response.body.append(data, size * count);
    return size * count;
  }
  static std::size_t read_header(char* data, std::size_t size, std::size_t count, void* to) {
    Response& response = static_cast<Sent*>(to)->response;
    const std::string line(data, size * count);
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) return size * count;
    const std::size_t from = line.find_first_not_of(' ', colon + 1), end = line.find_last_not_of("\r\n");
    const std::string name = line.substr(0, colon);
    std::string* value = curl_strequal(name.c_str(), "retry-after") ? &response.retry_after
                         : curl_strequal(name.c_str(), "date")      ? &response.date
                                                                      : nullptr;
    if (value != nullptr && from <= end) *value = line.substr(from, end - from + 1);
    return size * count;
  }
  void release(Sent& sent) {
    curl_multi_remove_handle(multi_, sent.easy);
    curl_easy_cleanup(sent.easy);
    curl_slist_free_all(sent.headers);
  }

  CURLM* multi_;
  std::map<std::uint64_t, std::unique_ptr<Sent>> under_way_;
  std::uint64_t count_ = 0;
};

}  // namespace muster
