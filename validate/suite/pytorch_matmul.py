#!/usr/bin/env python3
"""Times matmuls as PyTorch calls cuBLASLt, for the shapes of a suite.csv of mansard-measure.

    pytorch_matmul.py suite.csv --out pytorch.csv [--dtypes fp8,int8] [--budget 120]

The protocol is the suite's: a CUDA graph of calls that last about 3 ms, weights rotating through three times the L2, the
activations warm, fresh random data, the median of seven replays. PyTorch's fp8 product accumulates without the fast mode
unless it is asked for (--fast), and its int8 product gives the library no workspace.
"""

import argparse
import csv
import math
import time

import torch

COLUMNS = ("machine,implementation,mode,cache,op,dtype,out_dtype,model,m,n,k,median_us,min_us,max_us,trials,calls,"
           "flag,source").split(",")


def operands(dtype, rows, columns):
    """A random matrix of that type on the device."""
    if dtype == "int8":
        return torch.randint(-128, 128, (rows, columns), dtype=torch.int8, device="cuda")
    values = torch.randn(rows, columns, device="cuda")
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn}
    return values.to(kinds.get(dtype, torch.float32))


def product(dtype, fast):
    """x[m,k], w[n,k] -> x . w^T, as a user of PyTorch writes it."""
    if dtype == "int8":
        return lambda x, w: torch._int_mm(x, w.t())
    if dtype == "fp8":
        one = torch.ones((), device="cuda")
        return lambda x, w: torch._scaled_mm(x, w.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=fast)
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    return lambda x, w: torch.mm(x, w.t())


def elapsed_us(work):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return 1e3 * begin.elapsed_time(end)


def measure(dtype, m, n, k, fast, trials=7):
    """Microseconds of a call: median, least, most, and the calls of a replay."""
    multiply = product(dtype, fast)
    x = operands(dtype, m, k)
    bytes_of_weight = n * k * x.element_size()
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    sets = max(1, min(1024, math.ceil(3 * l2 / bytes_of_weight)))
    weights = [operands(dtype, n, k) for _ in range(sets)]
    multiply(x, weights[0])
    rough = max(elapsed_us(lambda: [multiply(x, weights[i % sets]) for i in range(4)]) / 4, 1.0)
    calls = max(sets, min(1500, math.ceil(3000 / min(rough, 30.0 if rough < 100 else rough))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            multiply(x, weights[i % sets])
    graph.replay()
    torch.cuda.synchronize()
    times = sorted(elapsed_us(graph.replay) / calls for _ in range(trials))
    return times[trials // 2], times[0], times[-1], calls


def shapes(path, dtypes):
    seen = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            if row["op"] == "matmul" and row["cache"] == "cold" and row["dtype"] in dtypes and not row["batch"]:
                seen.setdefault((row["dtype"], int(row["m"]), int(row["n"]), int(row["k"])), row)
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--out", required=True)
    parser.add_argument("--dtypes", default="fp8,int8,tf32,fp32,fp16,bf16")
    parser.add_argument("--fast", action="store_true", help="fp8 with fast accumulation")
    parser.add_argument("--budget", type=float, default=120, help="seconds")
    options = parser.parse_args()
    begin = time.monotonic()
    left_out = 0
    with open(options.out, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for (dtype, m, n, k), row in shapes(options.suite, options.dtypes.split(",")).items():
            if time.monotonic() - begin > options.budget:
                break
            try:
                median, least, most, calls = measure(dtype, m, n, k, options.fast)
            except RuntimeError:  # a shape that PyTorch refuses: fewer than 17 rows of int8, say
                left_out += 1
                torch.cuda.synchronize()
                continue
            writer.writerow({
                "machine": row["machine"], "implementation": "cublaslt-" + row["implementation"].split("-")[-1],
                "mode": "graph", "cache": "cold", "op": "matmul", "dtype": dtype, "out_dtype": row["out_dtype"],
                "model": row["model"], "m": m, "n": n, "k": k, "median_us": f"{median:.6g}", "min_us": f"{least:.6g}",
                "max_us": f"{most:.6g}", "trials": 7, "calls": calls,
                "source": f"PyTorch {torch.__version__}{', fast accumulation' if options.fast and dtype == 'fp8' else ''}"})
            file.flush()
    print(f"{time.monotonic() - begin:.0f} s, {left_out} shapes left out")


if __name__ == "__main__":
    main()
