#include "model/serve/service.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <catch2/catch.hpp>

#include "model/serve/hash.hpp"
#include "tests/model/serve/made.hpp"

namespace mansard::model::serve {
namespace {

/// The random service number `seed`: anything that may be configured, small enough to be tight.
Service random_service(std::uint64_t seed, StepTimer& timer) {
  Random random(seed);
  const auto upto = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random.next() % n); };
  const auto flip = [&] { return upto(2) == 1; };
  Pool pool = small_pool(timer);
  EngineSettings& s = pool.settings;
  s.block_size = 1 + upto(32);
  s.max_num_seqs = 1 + upto(16);
  s.max_num_batched_tokens = 32 + upto(512);
  s.enable_chunked_prefill = flip() || flip();
  s.enable_prefix_caching = flip();
  s.reserve_full_sequence = flip();
  s.async_scheduling = flip();
  s.order = static_cast<QueueOrder>(upto(4));
  s.precedence = static_cast<Precedence>(upto(2));
  s.preemption = static_cast<Preemption>(upto(2));
  s.watermark = flip() ? 0.1 : 0;
  s.draft_tokens = flip() ? 0 : upto(4);
  s.long_prefill_token_threshold = flip() ? 0 : 16 + upto(64);
  pool.blocks = 20 + upto(200);
  pool.host_blocks = upto(100);
  pool.stages = flip() ? 1 : 1 + upto(3);
  pool.replicas = 1 + upto(4);
  Service service;
  service.pools = {pool};
  if (flip()) {
    Pool prefill = pool;
    prefill.role = Role::kPrefill;
    service.pools.front().role = Role::kDecode;
    service.pools.push_back(prefill);
  }
  service.router = static_cast<Router>(upto(4));
  service.seed = seed;
  if (flip()) {
    service.mean_time_between_failures = 2.0;
    service.downtime = 0.5;
  }
  if (flip() && service.pools.size() == 1) {
    service.autoscaling = {
        .least = 1, .most = 5, .interval = 0.3, .start_up = 0.5, .above = 4, .below = 2};
  }
  return service;
}

std::vector<ir::Request> random_requests(std::uint64_t seed, std::size_t count) {
  Random random(seed ^ 77U);
  std::vector<ir::Request> requests;
  double time = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ir::Request request;
    request.id = i;
    request.arrival = time;
    request.input_tokens = static_cast<std::uint32_t>(random.next() % 400);
    request.output_tokens = static_cast<std::uint32_t>(random.next() % 60);
    request.priority = static_cast<std::int32_t>(random.next() % 3);
    request.user = static_cast<std::uint32_t>(random.next() % 5);
    if (random.next() % 2 == 0) {
      auto prompt = std::make_shared<ir::PromptBlocks>();
      prompt->tokens = 16;
      for (std::uint32_t t = 0; t < request.input_tokens; t += 16) {
        prompt->ids.push_back(random.next() % 8 == 0 ? random.next() : t);
      }
      request.prompt = prompt;
    }
    requests.push_back(request);
    time += random.next() % 4 == 0 ? 0 : random.exponential() * 0.02;
  }
  return requests;
}

/// What the listeners heard of a run, and whether time ever went backwards.
struct Heard {
  std::map<std::uint64_t, int> ends;  ///< By request: how often it was answered or rejected.
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  bool in_order = true;

  Listeners listeners() {
    Listeners result;
    result.served = [this](const Served& s) {
      ++ends[s.request->id];
      input += s.request->input_tokens;
      output += s.request->output_tokens;
      in_order = in_order && s.request->arrival <= s.admitted && s.admitted < s.first_token &&
                 s.first_token <= s.finished;
    };
    result.rejected = [this](const ir::Request& request, std::string_view) {
      ++ends[request.id];
      input += request.input_tokens;
      output += request.output_tokens;
    };
    result.event = [this](const Event& event) {
      in_order = in_order && event.time >= 0 && (event.end == 0 || event.end >= event.time) &&
                 event.kv_used >= 0 && event.kv_used <= 1;
    };
    return result;
  }
};

TEST_CASE("requests, tokens and blocks are conserved whatever the service is", "[serve]") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    TokenTimer timer;
    const Service service = random_service(seed, timer);
    const std::vector<ir::Request> requests = random_requests(seed, 60);
    std::uint64_t input = 0;
    std::uint64_t output = 0;
    for (const ir::Request& request : requests) {
      input += request.input_tokens;
      output += request.output_tokens;
    }
    ListSource source(requests);
    Heard heard;
    const ServiceReport report = simulate(service, source, heard.listeners());
    CHECK(report.requests == requests.size());
    CHECK(report.completed + report.rejections() == requests.size());
    CHECK(heard.ends.size() == requests.size());
    CHECK(std::ranges::all_of(heard.ends, [](const auto& end) { return end.second == 1; }));
    CHECK(report.input_tokens + report.rejected_input_tokens == input);
    CHECK(report.output_tokens + report.rejected_output_tokens == output);
    CHECK(heard.input == input);
    CHECK(heard.output == output);
    CHECK(heard.in_order);
    CHECK(report.leaked_blocks == 0);
    CHECK(report.ttft.count() == report.completed);
    CHECK(report.itl.count() >= report.output_tokens - report.completed);
    CHECK(!report.rejected.contains("cannot be admitted"));
  }
}

TEST_CASE("a run is the same bit for bit when it is repeated", "[serve]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TokenTimer timer;
    const Service service = random_service(seed, timer);
    const auto run = [&] {
      ListSource source(random_requests(seed, 60));
      std::string log;
      Listeners listeners;
      listeners.served = [&](const Served& s) {
        log += std::to_string(mixed(std::bit_cast<std::uint64_t>(s.finished), s.request->id)) + " ";
      };
      const ServiceReport report = simulate(service, source, listeners);
      return log + std::to_string(std::bit_cast<std::uint64_t>(report.latency.mean()));
    };
    CHECK(run() == run());
  }
}

TEST_CASE("without load a request takes its own iterations and nothing else", "[serve]") {
  TokenTimer timer(1e-3, 1e-5);
  Service service;
  service.pools = {small_pool(timer)};
  service.pools.front().settings.host_seconds = 0.2e-3;
  ListSource source({made_request(0, 0, 100, 11), made_request(1, 1000, 100, 11)});
  const ServiceReport report = simulate(service, source, {});
  // One prompt of 100 tokens after the host's time, then ten tokens, whose scheduling is hidden.
  const double prompt = 1e-3 + 100e-5;
  CHECK(report.ttft.mean() == Approx(0.2e-3 + prompt));
  CHECK(report.tpot.mean() == Approx(1e-3 + 1e-5));
  CHECK(report.latency.mean() == Approx(0.2e-3 + prompt + 10 * (1e-3 + 1e-5)));
}

TEST_CASE("one server of constant time waits as an M/D/1 queue does", "[serve]") {
  // Pollaczek and Khinchine: the mean wait is rho D / (2 (1 - rho)).
  for (const double load : {0.5, 0.8}) {
    TokenTimer timer(1, 0);
    Service service;
    service.pools = {small_pool(timer)};
    service.pools.front().settings.max_num_seqs = 1;
    service.pools.front().settings.async_scheduling = false;
    Random random(3);
    std::vector<ir::Request> requests;
    double time = 0;
    for (std::uint64_t i = 0; i < 400000; ++i) {
      time += random.exponential() / load;
      requests.push_back(made_request(i, time, 10, 1));
    }
    ListSource source(std::move(requests));
    const ServiceReport report = simulate(service, source, {});
    CHECK(report.queueing.mean() == Approx(load / (2 * (1 - load))).epsilon(0.02));
    CHECK(report.latency.mean() == Approx(1 + load / (2 * (1 - load))).epsilon(0.02));
  }
}

TEST_CASE("a closed loop answers as many a second as Little's law says", "[serve]") {
  // N users, each iteration D whatever its batch: a user waits for half an iteration and takes two.
  const std::uint32_t users = 8;
  const double think = 10;
  TokenTimer timer(1, 0);
  Service service;
  service.pools = {small_pool(timer)};
  service.pools.front().settings.async_scheduling = false;
  LoopSource source(users, 20000, think, 10, 2);
  const ServiceReport report = simulate(service, source, {});
  const double throughput = static_cast<double>(report.completed) / report.makespan;
  CHECK(throughput * (report.latency.mean() + think) == Approx(users).epsilon(0.02));
  CHECK(report.latency.mean() >= 2);
  CHECK(report.latency.mean() <= 3);
}

TEST_CASE("work that does not fit is preempted, computed again and answered", "[serve]") {
  TokenTimer timer;
  for (const Preemption preemption : {Preemption::kRecompute, Preemption::kSwap}) {
    Service service;
    service.pools = {small_pool(timer)};
    Pool& pool = service.pools.front();
    pool.blocks = 20;  // 320 tokens; each request grows to 200
    pool.host_blocks = 1000;
    pool.settings.preemption = preemption;
    ListSource source({made_request(0, 0, 100, 100), made_request(1, 0, 100, 100)});
    const ServiceReport report = simulate(service, source, {});
    CHECK(report.completed == 2);
    CHECK(report.counts.preemptions > 0);
    CHECK((report.counts.recomputed_tokens > 0) == (preemption == Preemption::kRecompute));
    CHECK((report.counts.swapped_blocks > 0) == (preemption == Preemption::kSwap));
  }
}

TEST_CASE("equal prompts are computed once", "[serve]") {
  TokenTimer timer;
  Service service;
  service.pools = {small_pool(timer)};
  auto prompt = std::make_shared<ir::PromptBlocks>(ir::PromptBlocks{64, {1, 2, 3, 4}});
  std::vector<ir::Request> requests{made_request(0, 0, 256, 4), made_request(1, 5, 256, 4)};
  for (ir::Request& request : requests) {
    request.prompt = prompt;
  }
  ListSource source(requests);
  const ServiceReport report = simulate(service, source, {});
  CHECK(report.cached_tokens ==
        240);  // all but the block of the last token, which must be computed
  CHECK(report.counts.prompt_tokens == 256 + 16);
}

TEST_CASE("a failed replica's requests are answered by another", "[serve]") {
  TokenTimer timer(0.1, 0);
  Service service;
  service.pools = {small_pool(timer)};
  service.pools.front().replicas = 2;
  service.failures = {{.time = 1, .replica = 0, .downtime = 1e6}};
  std::vector<ir::Request> requests;
  for (std::uint64_t i = 0; i < 10; ++i) {
    requests.push_back(made_request(i, 0, 10, 50));
  }
  ListSource source(requests);
  const ServiceReport report = simulate(service, source, {});
  CHECK(report.failures == 1);
  CHECK(report.completed == 10);
}

TEST_CASE("prompts on replicas of their own reach the others over the link", "[serve]") {
  TokenTimer timer(1e-3, 0);
  Service service;
  service.pools = {small_pool(timer), small_pool(timer)};
  service.pools[0].role = Role::kPrefill;
  service.pools[1].role = Role::kDecode;
  for (Pool& pool : service.pools) {
    pool.block_bytes = 1e6;
  }
  service.link = {.bytes_per_second = 1e8, .latency = 0};
  ListSource source({made_request(0, 0, 160, 3)});
  const ServiceReport report = simulate(service, source, {});
  CHECK(report.transfers == 1);
  // 10 blocks of 1 MB over 100 MB/s between the first token and the next.
  CHECK(report.itl.greatest() == Approx(0.1 + 1e-3));
}

TEST_CASE("drafted tokens are accepted as often as the settings say", "[serve]") {
  TokenTimer timer;
  Service service;
  service.pools = {small_pool(timer)};
  service.pools.front().settings.draft_tokens = 3;
  service.pools.front().settings.acceptance = 0.6;
  std::vector<ir::Request> requests;
  for (std::uint64_t i = 0; i < 200; ++i) {
    requests.push_back(made_request(i, static_cast<double>(i), 10, 400));
  }
  ListSource source(requests);
  const ServiceReport report = simulate(service, source, {});
  // (1 - a^(k+1)) / (1 - a) tokens a step (Leviathan et al. 2023, equation 1), one of them not
  // drafted.
  const double expected = (1 - std::pow(0.6, 4)) / 0.4 - 1;
  CHECK(3.0 * static_cast<double>(report.counts.accepted) /
            static_cast<double>(report.counts.drafted) ==
        Approx(expected).epsilon(0.02));
}

TEST_CASE("urgent requests and starved users come first where the settings say so", "[serve]") {
  TokenTimer timer(1, 0);
  const auto first_after = [&](QueueOrder order) {
    Service service;
    service.pools = {small_pool(timer)};
    service.pools.front().settings.order = order;
    service.pools.front().settings.max_num_seqs = 1;
    std::vector<ir::Request> requests;
    for (std::uint64_t i = 0; i < 4; ++i) {
      requests.push_back(made_request(i, 0.1 * static_cast<double>(i), 30, 5));
      requests.back().user = 1;
    }
    requests[3].priority = -1;
    requests[3].user = 2;
    requests[3].input_tokens = 20;
    ListSource source(requests);
    std::vector<std::uint64_t> order_of_answers;
    Listeners listeners;
    listeners.served = [&](const Served& s) { order_of_answers.push_back(s.request->id); };
    static_cast<void>(simulate(service, source, listeners));
    return order_of_answers.at(1);
  };
  CHECK(first_after(QueueOrder::kFcfs) == 1);
  CHECK(first_after(QueueOrder::kPriority) == 3);
  CHECK(first_after(QueueOrder::kShortest) == 3);
  CHECK(first_after(QueueOrder::kFair) == 3);
}

TEST_CASE("more replicas are started under load and let go without it", "[serve]") {
  TokenTimer timer(0.1, 0);
  Service service;
  service.pools = {small_pool(timer)};
  service.autoscaling = {
      .least = 1, .most = 3, .interval = 1, .start_up = 2, .above = 5, .below = 2};
  std::vector<ir::Request> requests;
  for (std::uint64_t i = 0; i < 100; ++i) {
    requests.push_back(made_request(i, 0, 10, 100));
  }
  requests.push_back(made_request(100, 1000, 10, 10));
  ListSource source(requests);
  const ServiceReport report = simulate(service, source, {});
  CHECK(report.completed == 101);
  CHECK(report.most_replicas == 3);
  CHECK(report.on_seconds < 1500);  // not three times 1000 s
}

}  // namespace
}  // namespace mansard::model::serve
