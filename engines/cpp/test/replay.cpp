// Replays a transcript: `replay client transcript.jsonl`. Prints how many lines were replayed.
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>

#include "../muster.hpp"

using muster::Json;

namespace {

template <typename Machine>
int replay(std::istream& lines) {
  const auto half = [] { return 0.5; };
  auto machine = std::make_unique<Machine>(half);
  std::deque<Json> outputs;
  int nth = 0;
  const auto fault = [&nth](const std::string& what) {
    std::cerr << "line " << nth << ": " << what << '\n';
    return 1;
  };
  for (std::string text; std::getline(lines, text);) {
    nth += 1;
    const auto line = Json::parse(text);
    if (!line) return fault("is no JSON");
    if (line->has("out")) {
      if (outputs.empty()) return fault("the machine does nothing more; wanted " + (*line)["out"].dump());
      if (outputs.front() != (*line)["out"])
        return fault("the machine did " + outputs.front().dump() + "; wanted " + (*line)["out"].dump());
      outputs.pop_front();
      continue;
    }
    if (!outputs.empty()) return fault("before it the machine did " + outputs.front().dump());
    if (line->has("session")) {
      machine = std::make_unique<Machine>(half);
      continue;
    }
    for (const Json& output : machine->step((*line)["in"], (*line)["at"].number())) outputs.push_back(output);
  }
  if (!outputs.empty()) return fault("after it the machine did " + outputs.front().dump());
  std::cout << nth << '\n';
  return nth > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** given) {
  if (count != 3) return 2;
  std::ifstream lines(given[2]);
  return replay<muster::Machine>(lines);
}
