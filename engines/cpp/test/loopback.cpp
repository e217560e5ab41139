// Plays with a real Muster. `loopback client URL TOKEN QUEUE` prints each state, and then the join token. `loopback
// server URL TOKEN` admits the join tokens that it reads, one per line, and ends the match after the second one.
// `muster verify-server` starts `loopback verify`.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "../muster.hpp"
#ifdef MUSTER_UNREAL
#include "../../unreal/Source/Muster/Public/MusterTransport.h"
using Transport = FMusterTransport;
#else
#include "../muster/curl_transport.hpp"
using Transport = muster::CurlTransport;
#endif

namespace {

void frame() {
#ifdef MUSTER_UNREAL
  FHttpModule::Get().Tick();
#endif
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}
template <typename... Parts>
void say(const Parts&... parts) {
  (std::cout << ... << parts) << std::endl;
}

int play(char** given) {
  Transport transport;
  muster::Client client({given[2], [given] { return std::string(given[3]); }, &transport});
  const char* const phases[] = {"idle", "gathering", "searching", "found", "assigned", "ended"};
  client.on_change([&](const muster::State& state) {
    say(phases[static_cast<int>(state.phase)]);
    if (state.must_accept) client.accept();
  });
  bool is_over = false;
  client.play({given[4]}, [&](const muster::Refusal* refusal) {
    is_over = true;
    if (refusal != nullptr) say("refused ", refusal->code);
  });
  while (!is_over) {
    client.update();
    frame();
  }
  say(client.state().assignment.ports.at("game").link);
  say(client.state().assignment.join_token);
  return 0;
}

/** A line of standard input, if one is there. */
bool read_line(std::string& line) {
  static std::string held;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char bytes[4096];
  if (poll(&input, 1, 0) > 0) {
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count > 0) held.append(bytes, static_cast<std::size_t>(count));
  }
  const std::size_t end = held.find('\n');
  if (end == std::string::npos) return false;
  line = held.substr(0, end);
  held.erase(0, end + 1);
  return true;
}

int serve(char** given) {
  Transport transport;
  muster::ServerHandlers handlers;
  muster::GameServer* server = nullptr;
  bool is_finished = false;
  std::string match_id;
  int players = 0;
  handlers.match = [&](const muster::Match& match) {
    match_id = match.id;
    say("match ", match.queue);
    server->open(match.id);
  };
  handlers.ended = [](const std::string&, const std::string& reason) { say("ended ", reason); };
  handlers.stop = [&](const std::string& reason, double) {
    say("stop ", reason);
    server->stopped();
  };
  handlers.finished = [&] { is_finished = true; };
  handlers.problem = [](const std::string& sentence) { say("problem ", sentence); };
  muster::GameServer::Options options;
  options.url = given[2];
  options.token = given[3];
  options.build = "1.0";
  options.transport = &transport;
  muster::GameServer made(options, handlers);
  server = &made;
  std::string token;
  while (!is_finished) {
    frame();
    made.update();
    if (!read_line(token)) continue;
    made.admit(token, [&](const muster::Player* player, const std::string& refused) {
      say(player == nullptr ? "refused " + refused : "admitted " + player->id);
      if (player == nullptr || ++players < 2) return;
      const muster::Json winner = muster::Json::array({muster::Json(player->id)});
      made.over(match_id, muster::Json::object({{"ranking", muster::Json::array({winner})}}),
                [](const char* fault) { say(fault == nullptr ? "over" : fault); });
    });
  }
  say("finished");
  return 0;
}

volatile std::sig_atomic_t is_terminated = 0;

int be_verified() {
  Transport transport;
  muster::ServerHandlers handlers;
  muster::GameServer* server = nullptr;
  bool is_finished = false;
  handlers.match = [&](const muster::Match& match) {
    server->open(match.id);
    server->seats(match.id, true);
  };
  handlers.finished = [&] { is_finished = true; };
  handlers.problem = [](const std::string& sentence) { say(sentence); };
  // URL and token come from the environment.
  muster::GameServer::Options options;
  options.build = "1.0";
  options.transport = &transport;
  muster::GameServer made(options, handlers);
  server = &made;
  std::signal(SIGTERM, [](int) { is_terminated = 1; });
  while (!is_finished) {
    frame();
    made.update();
    if (is_terminated == 0) continue;
    is_terminated = 0;
    made.stop("SIGTERM");
  }
  return 0;
}

}  // namespace

int main(int count, char** given) {
  if (count == 2 && std::string(given[1]) == "verify") return be_verified();
  if (count == 5 && std::string(given[1]) == "client") return play(given);
  if (count == 4 && std::string(given[1]) == "server") return serve(given);
  return 2;
}
