#!/usr/bin/env python3
"""Times whole decode steps of dense models in PyTorch, with random weights, all kernels of a step in one CUDA graph.

    pytorch_step.py --model llama3-70b --dtype fp8 --batches 1,8,32 --contexts 512,2048 --out steps.csv
    torchrun --nproc-per-node 2 pytorch_step.py --model llama3-70b --out steps.csv     # tensor parallel, NCCL in the graph

The kernels of a layer: residual and norm (fused by torch.compile), query-key-value matmul, rope and cache writes (fused as
torch.compile likes), cuDNN's attention, output matmul, residual and norm, gate-and-up matmul, silu and product, down matmul;
between GPUs an all-reduce behind the output and the down matmul, and one all-gather of the logits. With fp8 the matmuls are
torch._scaled_mm of e4m3 operands without fast accumulation, norms and activations write fp8 in their own kernels, and the
attention's output is cast by one more. The cache, the embedding and the head are bf16. Every layer has weights of its own.
"""

import argparse
import csv
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

# hidden, layers, query heads, key-value heads, head dim, ffn, vocabulary, bias of the query-key-value matmul
MODELS = {
    "llama3-70b": (8192, 80, 64, 8, 128, 28672, 128256, False),
    "llama3-8b": (4096, 32, 32, 8, 128, 14336, 128256, False),
    "llama2-7b": (4096, 32, 32, 32, 128, 11008, 32000, False),
    "mistral-7b": (4096, 32, 32, 8, 128, 14336, 32000, False),
    "qwen2.5-7b": (3584, 28, 28, 4, 128, 18944, 152064, True),
}
COLUMNS = ("machine,implementation,op,dtype,phase,mode,model,batch,q_len,tp,gpus,context,median_us,min_us,max_us,sm_mhz,"
           "source").split(",")
FP8 = torch.float8_e4m3fn
BF16 = torch.bfloat16


def norm(x, gain):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(BF16) * gain


def cast(x, fp8):
    return x.to(FP8) if fp8 else x


def linear(x, w, one, bias=None):
    if w.dtype == FP8:
        return torch._scaled_mm(x, w.t(), one, one, out_dtype=BF16)
    return F.linear(x, w, bias)


def rotate(x, cosine, sine):
    low, high = x.chunk(2, -1)
    return torch.cat((low * cosine - high * sine, high * cosine + low * sine), -1)


class Step:
    def __init__(self, name, fp8, ranks):
        self.hidden, self.layers, self.heads, self.kv_heads, self.dim, self.ffn, self.vocab, bias = MODELS[name]
        self.ranks = ranks
        self.heads, self.kv_heads, self.ffn = self.heads // ranks, self.kv_heads // ranks, self.ffn // ranks
        self.fp8 = fp8
        self.one = torch.ones((), device="cuda")
        width = (self.heads + 2 * self.kv_heads) * self.dim
        self.weights = [{
            "qkv": self.weight(width, self.hidden), "out": self.weight(self.hidden, self.heads * self.dim),
            "up": self.weight(2 * self.ffn, self.hidden), "down": self.weight(self.hidden, self.ffn),
            "bias": self.random(width) if bias else None,
            "gain1": self.random(self.hidden), "gain2": self.random(self.hidden)} for _ in range(self.layers)]
        self.head = self.random(self.vocab // ranks, self.hidden)
        self.table = self.random(self.vocab, self.hidden)
        self.gain = self.random(self.hidden)
        self.before = torch.compile(self.before_attention, dynamic=False)
        self.project = torch.compile(self.project_out, dynamic=False)
        self.feed = torch.compile(self.feed_forward, dynamic=False)
        self.last = torch.compile(self.logits, dynamic=False)

    @staticmethod
    def random(*shape):
        return torch.randn(*shape, device="cuda", dtype=BF16) * 0.02

    def weight(self, rows, columns):
        return cast(self.random(rows, columns), self.fp8)

    def before_attention(self, residual, delta, gain, qkv, bias, cosine, sine, keys, values, place):
        residual = residual + delta
        x = linear(cast(norm(residual, gain), self.fp8), qkv, self.one, bias)
        q, k, v = x.view(x.shape[0], -1, self.dim).split((self.heads, self.kv_heads, self.kv_heads), 1)
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        keys.index_copy_(2, place, k.unsqueeze(2))
        values.index_copy_(2, place, v.unsqueeze(2))
        return residual, q.unsqueeze(2)

    def project_out(self, attended, out):
        return linear(cast(attended.reshape(attended.shape[0], -1), self.fp8), out, self.one)

    def feed_forward(self, residual, delta, gain, up, down):
        residual = residual + delta
        gate, value = linear(cast(norm(residual, gain), self.fp8), up, self.one).chunk(2, -1)
        return residual, linear(cast(F.silu(gate) * value, self.fp8), down, self.one)

    def logits(self, residual, delta, gain, head):
        return F.linear(norm(residual + delta, gain), head)

    def summed(self, x):
        if self.ranks > 1:
            dist.all_reduce(x)
        return x

    def gathered(self, logits):
        if self.ranks == 1:
            return logits
        whole = logits.new_empty(self.ranks, *logits.shape)
        dist.all_gather_into_tensor(whole, logits)
        return whole.transpose(0, 1).flatten(1)

    def run(self, tokens, cosine, sine, caches, place):
        residual = F.embedding(tokens, self.table)
        delta = torch.zeros_like(residual)
        for w, (keys, values) in zip(self.weights, caches):
            residual, q = self.before(residual, delta, w["gain1"], w["qkv"], w["bias"], cosine, sine, keys, values, place)
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                o = F.scaled_dot_product_attention(q, keys, values, enable_gqa=self.heads != self.kv_heads)
            delta = self.summed(self.project(o, w["out"]))
            residual, delta = self.feed(residual, delta, w["gain2"], w["up"], w["down"])
            delta = self.summed(delta)
        return self.gathered(self.last(residual, delta, self.gain, self.head)).argmax(-1)

    def measure(self, batch, context, trials=9):
        """Microseconds of a step: sorted trials."""
        shape = (batch, self.kv_heads, context, self.dim)
        caches = [(torch.randn(*shape, device="cuda", dtype=BF16), torch.randn(*shape, device="cuda", dtype=BF16))
                  for _ in range(self.layers)]
        arguments = (torch.randint(self.vocab, (batch,), device="cuda"), self.random(self.dim // 2),
                     self.random(self.dim // 2), caches, torch.tensor([context - 1], device="cuda"))
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            for _ in range(2):
                self.run(*arguments)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            self.run(*arguments)
        for _ in range(3):
            graph.replay()
        times = []
        for _ in range(trials):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(1e3 * begin.elapsed_time(end) / 2)
        return sorted(times), torch.cuda.clock_rate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, choices=MODELS)
    parser.add_argument("--dtype", default="bf16", choices=("bf16", "fp8"))
    parser.add_argument("--batches", default="1,16")
    parser.add_argument("--contexts", default="512,2048")
    parser.add_argument("--machine", default="h200-sxm")
    parser.add_argument("--most-tokens", type=int, default=140_000, help="of all sequences together")
    parser.add_argument("--budget", type=float, default=120, help="seconds")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    torch._dynamo.config.cache_size_limit = 64
    begin = time.monotonic()
    ranks, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    torch.cuda.set_device(rank)
    if ranks > 1:
        dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(7)
    step = Step(options.model, options.dtype == "fp8", ranks)
    path = options.out if rank == 0 else os.devnull
    fresh = not os.path.exists(path)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for batch in map(int, options.batches.split(",")):
            for context in map(int, options.contexts.split(",")):
                late = torch.tensor(float(time.monotonic() - begin > options.budget), device="cuda")
                if step.summed(late).item() > 0 or batch * context > options.most_tokens:
                    continue
                times, mhz = step.measure(batch, context)
                row = {"machine": options.machine, "implementation": "pytorch-compiled", "op": "step", "dtype": options.dtype,
                       "phase": "decode", "mode": "graph", "model": options.model, "batch": batch, "q_len": 1, "tp": ranks,
                       "gpus": ranks, "context": context, "median_us": f"{times[len(times) // 2]:.6g}", "min_us": f"{times[0]:.6g}",
                       "max_us": f"{times[-1]:.6g}", "sm_mhz": mhz, "source": f"PyTorch {torch.__version__}"}
                writer.writerow(row)
                file.flush()
                if rank == 0:
                    print(f"{time.monotonic() - begin:.0f} s", options.model, batch, context, row["median_us"], flush=True)
    if ranks > 1:
        torch.cuda.synchronize()
        os._exit(0)  # a graph that holds collectives may outlive its communicator and hang the exit


if __name__ == "__main__":
    main()
