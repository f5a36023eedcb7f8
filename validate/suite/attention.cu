#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "validate/suite/attention.cuh"
#include "validate/suite/ops.cuh"

namespace mansard::measure {
namespace {

std::vector<double> fetch(const __nv_bfloat16* data, std::int64_t count, cudaStream_t stream) {
  std::vector<double> result;
  for (const __nv_bfloat16 value : download(data, count, stream)) {
    result.push_back(static_cast<double>(static_cast<float>(value)));
  }
  return result;
}

/// One row of o in double precision.
std::vector<double> reference_row(const std::vector<double>& q, const std::vector<double>& k,
                                  const std::vector<double>& v, std::int64_t keys, double scale) {
  const std::size_t dim = q.size();
  std::vector<double> scores(keys);
  for (std::int64_t key = 0; key < keys; ++key) {
    for (std::size_t d = 0; d < dim; ++d) {
      scores[key] += scale * q[d] * k[key * dim + d];
    }
  }
  const double top = *std::ranges::max_element(scores);
  double sum = 0;
  std::vector<double> o(dim);
  for (std::int64_t key = 0; key < keys; ++key) {
    const double weight = std::exp(scores[key] - top);
    sum += weight;
    for (std::size_t d = 0; d < dim; ++d) {
      o[d] += weight * v[key * dim + d];
    }
  }
  std::ranges::for_each(o, [&](double& value) { value /= sum; });
  return o;
}

void require_close(const std::vector<double>& found, const std::vector<double>& expected,
                   const char* where) {
  double error = 0;
  double norm = 0;
  for (std::size_t d = 0; d < found.size(); ++d) {
    error += (found[d] - expected[d]) * (found[d] - expected[d]);
    norm += expected[d] * expected[d];
  }
  constexpr double kTolerance = 1.5e-2;
  if (!(std::sqrt(error) <= kTolerance * std::sqrt(norm) + 1e-4)) {
    throw DeviceError(std::string("wrong attention in the ") + where + " row: relative error " +
                          std::to_string(std::sqrt(error / norm)),
                      std::source_location::current());
  }
}

void check_row(const AttentionShape& s, const AttentionTensors& tensors, std::int64_t head,
               std::int64_t row, const char* where, cudaStream_t stream) {
  const std::int64_t kv_head = head / (s.q_heads / s.kv_heads);
  const std::int64_t at = (head * s.q_len + row) * s.head_dim;
  const std::int64_t kv = kv_head * s.kv_len * s.head_dim;
  const std::int64_t keys = s.causal ? s.kv_len - s.q_len + row + 1 : s.kv_len;
  const auto expected = reference_row(
      fetch(tensors.q + at, s.head_dim, stream), fetch(tensors.k + kv, keys * s.head_dim, stream),
      fetch(tensors.v + kv, keys * s.head_dim, stream), keys, s.scale());
  require_close(fetch(tensors.o + at, s.head_dim, stream), expected, where);
}

/// q and o are shared: only keys and values rotate.
std::vector<AttentionTensors> make_sets(Lab& lab, const AttentionShape& shape, int sets) {
  const auto tensor = [&](std::int64_t count) {
    auto* const data = lab.arena().take_array<__nv_bfloat16>(count);
    fill_random("bf16", data, count, lab.seed(), lab.stream());
    return data;
  };
  AttentionTensors first{};
  first.q = tensor(shape.q_count());
  first.o = lab.arena().take_array<__nv_bfloat16>(shape.q_count());
  poison(first.o, shape.q_count() * sizeof(__nv_bfloat16), lab.stream());
  std::vector<AttentionTensors> result(sets, first);
  for (AttentionTensors& set : result) {
    set.k = tensor(shape.kv_count());
    set.v = tensor(shape.kv_count());
  }
  return result;
}

AttentionCall own_call(Lab& lab, const AttentionShape& shape) {
  if (shape.q_len > 1) {
    return
        [shape](const AttentionTensors& t, cudaStream_t stream) { run_prefill(shape, t, stream); };
  }
  const int sms = lab.device().sms;
  void* const workspace = lab.arena().take(decode_workspace(shape, sms));
  return [=](const AttentionTensors& t, cudaStream_t stream) {
    run_decode(shape, t, workspace, sms, stream);
  };
}

/// Odd lengths, grouped heads: every row of every head is compared, once per process.
void check_own(Lab& lab, const AttentionShape& of) {
  static std::set<std::tuple<bool, bool, std::int64_t>> checked;
  if (!checked.emplace(of.q_len > 1, of.causal, of.head_dim).second) {
    return;
  }
  const AttentionShape small{2, 6, 2, of.q_len > 1 ? 77 : 1, 1301, of.head_dim, of.causal};
  const AttentionTensors tensors = make_sets(lab, small, 1).front();
  own_call(lab, small)(tensors, lab.stream());
  for (std::int64_t head = 0; head < small.batch * small.q_heads; head += 5) {
    for (std::int64_t row = 0; row < small.q_len; row += 19) {
      check_row(small, tensors, head, row, "small", lab.stream());
    }
  }
}

}  // namespace

float AttentionShape::scale() const {
  return 1 / std::sqrt(static_cast<float>(head_dim));
}

AttentionShape attention_shape(const Row& row) {
  if (row.text("dtype") != "bf16" || row.integer_or("window", 0) != 0) {
    throw Unsupported("attention is measured in bf16 without a window");
  }
  const AttentionShape shape{row.integer("batch"),
                             row.integer("q_heads"),
                             row.integer("kv_heads"),
                             row.integer("q_len"),
                             row.integer("kv_len"),
                             row.integer("head_dim"),
                             row.integer_or("causal", 0) != 0};
  if (shape.q_heads % shape.kv_heads != 0 || shape.q_len > shape.kv_len) {
    throw UsageError("q_heads must be a multiple of kv_heads, and q_len at most kv_len");
  }
  return shape;
}

void check_attention(const AttentionShape& shape, const AttentionTensors& tensors,
                     const Stream& stream) {
  check_row(shape, tensors, 0, 0, "first", stream);
  check_row(shape, tensors, shape.batch * shape.q_heads - 1, shape.q_len - 1, "last", stream);
}

void measure_attention(Lab& lab, Row row, const AttentionShape& shape, const AttentionCall& call,
                       bool warm) {
  const double kv_bytes = 2.0 * sizeof(__nv_bfloat16) * static_cast<double>(shape.kv_count());
  const Rotation rotation = warm ? Rotation{} : lab.rotation(kv_bytes);
  const std::vector<AttentionTensors> sets = make_sets(lab, shape, rotation.sets);
  call(sets[0], lab.stream());
  check_attention(shape, sets[0], lab.stream());
  lab.record(
      row, lab.time({[&](cudaStream_t stream, int turn) { call(sets[turn], stream); }, rotation}));
}

void measure_own_attention(Lab& lab, const Row& row, bool warm) {
  const AttentionShape shape = attention_shape(row);
  Row measured = row;
  measured.set("implementation", "mansard-kernels")
      .set("mode", "graph")
      .set("cache", warm ? "warm" : "cold")
      .set("flag", warm ? "fits_l2" : "");
  const double bytes = 4.0 * static_cast<double>(shape.kv_count());
  if (lab.skips(measured) || (warm && !lab.fits_l2(bytes))) {
    return;
  }
  check_own(lab, shape);
  measure_attention(lab, measured, shape, own_call(lab, shape), warm);
}

}  // namespace mansard::measure
