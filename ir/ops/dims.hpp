#pragma once

#include "ir/op_def.hpp"

/// The dimension symbols that op definitions share. A graph's op binds those its kind lists (each
/// `OpDef::dims`), to expressions over the workload (ir/graph.hpp). Flags are 0 or 1; flags, and
/// the dims written with `=`, may be left unbound. Operands in brackets are optional and stand
/// last.
///
/// matmul            b m n k, bias (flag), e=0 and es=0 (arithmetic and special operations of a
/// fused
///                   epilogue, per output): c[b,m,n] = a[b,m,k] * w[b,k,n] (+ bias[n]);
///                   a w c [bias, residual]
/// grouped_matmul    m (rows over all experts) n k, e experts held, u experts touched (expected), l
///                   (fewest), bias (flag): w[e,k,n]; a w c [bias]
/// attention         b h (query heads) g (KV heads) q (new tokens) t (keys read per sequence) p
///                   (query-key pairs per head and sequence) d (query/key head dim) v (value head
///                   dim) sink (flag); q k v o [sink]
/// mla_attention     b h q t p, r (latent rank) d (rotary dim): one latent cache[b,t,r+d] serves as
///                   key and value; q cache o
/// linear_attention  b q g (key heads) h (value heads) d (key dim) v (value dim) a=3 (contractions
///                   of the state a token: 3 for the delta rule, 2 without): state[b,h,d,v];
///                   q k v state o [gates]
/// ssm_scan          b q h (heads or channels) d (head dim; 1 if channels) s (state per channel) x
///                   (exp per token) g=1 (groups that share B and C): state[b,h,d,s];
///                   x dt bc state o [a]
/// convolution       b n (output channels) k (taps x input channels of a group) o (output
///                   positions) i (input elements a sample) bias (flag) u=0 (elements written a
///                   sample, if transposed) e=0 es=0; x w o [bias, state, residual]
/// recurrent         t steps, b h i (input size) g gates, d=1 directions, a and s per hidden unit;
///                   x w r o [bias, last]
/// norm              r rows, c columns, a (arithmetic per element), residual (flag: adds to and
///                   rewrites the residual stream), bias (flag), w (flag: has a gain);
///                   x o [gain, bias, residual]
/// elementwise       n (elements written) i (elements read) a (arithmetic per output) s=0 (special
///                   per output) iy..iq=0 (read of further inputs); x o [y z u v w p q]
/// move, custom      n (elements written) i (elements read) iy..iq=0; x o [y z u v w p q]
/// reduce            r results of c elements, a=1 and s=0 per element, w=1 written a result; x o
/// pool              b n (channels) o (positions) k (taps) i (input elements a sample);
///                   x o [indices]
/// top_k             r rows, c columns, k chosen; x o [indices]
/// softmax           r rows, c columns; x o
/// rope              t tokens, r rows (tokens x heads), d rotary dims; x [table]
/// embedding         t tokens, c columns, n vocabulary; table o [ids]
/// kv_write          n elements; x cache
/// moe_router        t tokens, e experts, k chosen, bias (flag); logits routes [bias]
/// sample            b sequences, n vocabulary; logits tokens
/// all_reduce        n elements of the message, p devices; x
/// all_gather        n elements gathered, p devices; x o
/// reduce_scatter    n elements before, p devices; x o
/// all_to_all        n elements of one rank's buffer, p devices; x o
/// send_recv         n elements, p=2; x [o]
namespace mansard::ir::ops {

/// The symbol of that name among the definitions.
[[nodiscard]] inline Expr dim(std::string_view name) {
  return definitions().symbol(name);
}
/// A plain number among the definitions.
[[nodiscard]] inline Expr number(double value) {
  return definitions().constant(value);
}
/// One FLOP among the definitions.
[[nodiscard]] inline Expr flop() {
  return definitions().unit(kFlop);
}

}  // namespace mansard::ir::ops
