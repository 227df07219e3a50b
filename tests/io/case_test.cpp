#include "io/case.h"

#include "catch.h"
#include "io/array_file.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

using namespace sdpa;

namespace {

Case read(const std::string& members, bool output = false) {
  static const TemporaryFolder folder;
  static constexpr std::string_view kNames[] = {"key-lengths", "causal"};
  return read_case(folder.file("c.json", "{" + members + "}"), {kNames, output});
}

std::string error_in(const std::string& members, bool output = false) {
  const std::string message = error_of([&] { read(members, output); });
  return message.substr(std::min(message.size(), message.find("c.json")));
}

}  // namespace

TEST_CASE("case: operands have many names, in upper case or lower") {
  for (const char* members :
       {R"("Q": [[1]], "K": [[2]], "V": [[3]])", R"("query": [[1]], "key": [[2]], "value": [[3]])",
        R"("Queries": [[1]], "Keys": [[2]], "Values": [[3]])",
        R"("query_states": [[1]], "key_states": [[2]], "value_states": [[3]])"}) {
    const Case found = read(members);
    CHECK(found.q.array->at(0) == 1);
    CHECK(found.k.array->at(0) == 2);
    CHECK(found.v.array->at(0) == 3);
  }
  CHECK(read(R"("Q": [[1]], "K": [[2]], "V": [[3]])").q.name == "Q");
}

TEST_CASE("case: names that could be the same operand are refused with both") {
  CHECK(error_in(R"("q": [[1]], "query": [[1]], "k": [[2]], "v": [[3]])") ==
        "c.json: has both 'q' and 'query', which could be the same; FILE#NAME names one array");
  CHECK(error_in(R"("q": [[1]], "Q": [[1]], "k": [[2]], "v": [[3]])") ==
        "c.json: has both 'q' and 'Q', which could be the same; FILE#NAME names one array");
  CHECK(error_in(R"("q": [[1]], "k": [[2]])") ==
        "c.json: member 'v' is missing; there are 'q' and 'k'");
}

TEST_CASE("case: members that are asked for, an output, and those left over") {
  const std::string operands = R"("q": [[1]], "k": [[2]], "v": [[3]])";
  const Case found = read(
      operands + R"(, "Key_Lengths": [1], "Expected": [[3]], "m": [1], "meta": {"a": null})", true);
  REQUIRE(found.others.size() == 1);
  CHECK(found.others[0].name == "key-lengths");
  CHECK(found.others[0].array->at(0) == 1);
  REQUIRE(found.output.has_value());
  CHECK(found.output->name == "Expected");
  CHECK(found.unused == std::vector<std::string>{"m", "meta"});
  CHECK(read(operands + R"(, "out": [[3]])").unused == std::vector<std::string>{"out"});
  CHECK(error_in(operands + R"(, "o": [[3]], "expected": [[3]])", true) ==
        "c.json: has both 'o' and 'expected', which could be the same; FILE#NAME names one array");
}
