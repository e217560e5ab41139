// Replays a transcript: `replay client transcript.jsonl`, or `replay server server-transcript.jsonl`. Prints the
// number of replayed lines. A server wakes up by itself between the lines, which do not contain that.
#include <clocale>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>

#include "../muster.hpp"

using muster::Json;

namespace {

template <typename Machine>
int replay(std::istream& lines, bool wakes_itself) {
  const auto half = [] { return 0.5; };
  auto machine = std::make_unique<Machine>(half);
  std::deque<Json> outputs;
  double wake_at = -1;
  int nth = 0;
  const auto fault = [&nth](const std::string& what) {
    std::cerr << "line " << nth << ": " << what << '\n';
    return 1;
  };
  for (std::string text; std::getline(lines, text);) {
    nth += 1;
    const auto line = Json::parse(text);
    if (!line) return fault("is not JSON");
    if (line->has("session")) {
      if (!outputs.empty()) return fault("before it the machine did " + outputs.front().dump());
      machine = std::make_unique<Machine>(half);
      wake_at = -1;
      continue;
    }
    const double at = (*line)["at"].number();
    const auto step = [&](const Json& input, double now) {
      for (const Json& output : machine->step(input, now)) {
        if (wakes_itself && output.has("wakeAt"))
          wake_at = output["wakeAt"].is_number() ? output["wakeAt"].number() : -1;
        else
          outputs.push_back(output);
      }
    };
    while (wake_at >= 0 && wake_at <= at && outputs.empty()) step(Json::object({{"wake", true}}), wake_at);
    if (line->has("in")) {
      if (!outputs.empty()) return fault("before it the machine did " + outputs.front().dump());
      step((*line)["in"], at);
      continue;
    }
    if (outputs.empty()) return fault("the machine does nothing more; wanted " + (*line)["out"].dump());
    if (outputs.front() != (*line)["out"])
      return fault("the machine did " + outputs.front().dump() + "; wanted " + (*line)["out"].dump());
    outputs.pop_front();
  }
  if (!outputs.empty()) return fault("after it the machine did " + outputs.front().dump());
  std::cout << nth << '\n';
  return nth > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** given) {
  if (count != 3) return 2;
  // Like a game in the player's language, which may write numbers differently.
  std::setlocale(LC_ALL, "");
  std::ifstream lines(given[2]);
  if (std::string_view(given[1]) == "server") return replay<muster::ServerMachine>(lines, true);
  return replay<muster::Machine>(lines, false);
}
