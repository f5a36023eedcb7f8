// Kernels as people write them, none of which the kernel model was made with: what they do is
// counted and timed on a GPU and held against `mansard kernel`. Every kernel stands by its own;
// run.cu launches them.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffU;

__device__ float warp_sum(float x) {
  for (int o = 16; o > 0; o /= 2) {
    x += __shfl_xor_sync(kAll, x, o);
  }
  return x;
}

extern "C" {

// A warp a row, three passes over it.
__global__ void layernorm(int rows, int cols, const float* __restrict__ x,
                          const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ y) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) {
    return;
  }
  const float* in = x + static_cast<size_t>(row) * cols;
  float* out = y + static_cast<size_t>(row) * cols;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) {
    sum += in[c];
  }
  const float mean = warp_sum(sum) / cols;
  float squares = 0;
  for (int c = lane; c < cols; c += 32) {
    const float d = in[c] - mean;
    squares += d * d;
  }
  const float scale = rsqrtf(warp_sum(squares) / cols + 1e-5f);
  for (int c = lane; c < cols; c += 32) {
    out[c] = scale * (in[c] - mean) * weight[c] + bias[c];
  }
}

__global__ void gelu(int n, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
  }
}

__global__ void add_float4(int n4, const float4* __restrict__ a, const float4* __restrict__ b,
                           float4* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    const float4 p = a[i];
    const float4 q = b[i];
    y[i] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
  }
}

__global__ void adamw(int n, float rate, float beta1, float beta2, float decay,
                      const float* __restrict__ gradient, float* __restrict__ weight,
                      float* __restrict__ m, float* __restrict__ v) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float g = gradient[i];
  const float first = beta1 * m[i] + (1.0f - beta1) * g;
  const float second = beta2 * v[i] + (1.0f - beta2) * g * g;
  m[i] = first;
  v[i] = second;
  weight[i] -= rate * (first / (sqrtf(second) + 1e-8f) + decay * weight[i]);
}

// Operands of one 32 x 32 tile in shared memory, one result a thread.
__global__ void matmul_tiled(int n, const float* __restrict__ a, const float* __restrict__ b,
                             float* __restrict__ c) {
  __shared__ float as[32][32];
  __shared__ float bs[32][32];
  const int col = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[threadIdx.y][threadIdx.x] = a[static_cast<size_t>(row) * n + k0 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[static_cast<size_t>(k0 + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    }
    __syncthreads();
  }
  c[static_cast<size_t>(row) * n + col] = sum;
}

// 64 x 64 results a block of 256 threads, 4 x 4 a thread.
__global__ void matmul_blocked(int n, const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ c) {
  __shared__ float as[16][64];
  __shared__ float bs[16][64];
  const int tx = threadIdx.x % 16;
  const int ty = threadIdx.x / 16;
  float sums[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      as[i % 16][i / 16] = a[static_cast<size_t>(blockIdx.y * 64 + i / 16) * n + k0 + i % 16];
      bs[i / 64][i % 64] = b[static_cast<size_t>(k0 + i / 64) * n + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          sums[i][j] += as[k][ty * 4 + i] * bs[k][tx * 4 + j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      c[static_cast<size_t>(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4 + j] =
          sums[i][j];
    }
  }
}

__global__ void transpose_naive(int n, const float* __restrict__ x, float* __restrict__ y) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  y[static_cast<size_t>(c) * n + r] = x[static_cast<size_t>(r) * n + c];
}

__global__ void stencil7(int n, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  const int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i >= n - 1 || j >= n - 1) {
    return;
  }
  const size_t plane = static_cast<size_t>(n) * n;
  for (int k = 1; k < n - 1; ++k) {
    const size_t at = k * plane + static_cast<size_t>(j) * n + i;
    y[at] = 0.4f * x[at] +
            0.1f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] + x[at - plane] + x[at + plane]);
  }
}

__global__ void nbody(int n, const float4* __restrict__ body, float4* __restrict__ force) {
  __shared__ float4 tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 me = body[i];
  float3 f = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += 256) {
    tile[threadIdx.x] = body[t + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x;
      const float dy = other.y - me.y;
      const float dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float s = other.w * inverse * inverse * inverse;
      f.x += dx * s;
      f.y += dy * s;
      f.z += dz * s;
    }
    __syncthreads();
  }
  force[i] = make_float4(f.x, f.y, f.z, 0);
}

// Arrays of structures: 28 bytes a particle, three of its seven floats read.
struct Particle {
  float x, y, z, u, v, w, mass;
};
__global__ void move_particles(int n, float dt, Particle* __restrict__ p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    p[i].x += dt * p[i].u;
    p[i].y += dt * p[i].v;
    p[i].z += dt * p[i].w;
  }
}

__global__ void black_scholes(int n, float rate, float volatility, const float* __restrict__ price,
                              const float* __restrict__ strike, const float* __restrict__ years,
                              float* __restrict__ call) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float s = price[i];
  const float k = strike[i];
  const float t = years[i];
  const float root = volatility * sqrtf(t);
  const float d1 = (__logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / root;
  const float d2 = d1 - root;
  call[i] = s * normcdff(d1) - k * __expf(-rate * t) * normcdff(d2);
}

__global__ void axpy_half2(int n2, const half2* __restrict__ x, half2* __restrict__ y) {
  const half2 a = __float2half2_rn(1.5f);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += gridDim.x * blockDim.x) {
    y[i] = __hfma2(a, x[i], y[i]);
  }
}

__global__ void dot_f64(int n, const double* __restrict__ x, const double* __restrict__ y,
                        double* __restrict__ partial) {
  __shared__ double sums[256];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += x[i] * y[i];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
  }
}

// Interleaved addressing: the classic divergent reduction with bank conflicts.
__global__ void reduce_divergent(int n, const float* __restrict__ x, float* __restrict__ partial) {
  __shared__ float sums[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int stride = 1; stride < 256; stride *= 2) {
    const int at = 2 * stride * threadIdx.x;
    if (at < 256) {
      sums[at] += sums[at + stride];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
  }
}

__global__ void scan_block(int n, const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float buffer[2][512];
  const int i = blockIdx.x * 512 + threadIdx.x;
  int from = 0;
  buffer[0][threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < 512; offset *= 2) {
    const float before = threadIdx.x >= offset ? buffer[from][threadIdx.x - offset] : 0.0f;
    buffer[1 - from][threadIdx.x] = buffer[from][threadIdx.x] + before;
    from = 1 - from;
    __syncthreads();
  }
  if (i < n) {
    y[i] = buffer[from][threadIdx.x];
  }
}

__global__ void gray(int n, const unsigned char* __restrict__ rgb, unsigned char* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = static_cast<unsigned char>(
        (rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8);
  }
}

__global__ void convolve(int n, const float* __restrict__ x, const float* __restrict__ taps,
                         float* __restrict__ y) {
  __shared__ float window[256 + 16];
  const int i = blockIdx.x * 256 + threadIdx.x;
  window[threadIdx.x] = x[i];
  if (threadIdx.x < 16) {
    window[256 + threadIdx.x] = i + 256 < n ? x[i + 256] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 17; ++k) {
    sum += taps[k] * window[threadIdx.x + k];
  }
  y[i] = sum;
}

__global__ void fma_chain(int iterations, float a, float* __restrict__ y) {
  float p = threadIdx.x;
  float q = p + 1;
  for (int k = 0; k < iterations; ++k) {
    p = p * a + q;
    q = q * a + p;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = p + q;
}

__global__ void spread_columns(int rows, int cols, const float* __restrict__ x,
                               float* __restrict__ y) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float sum = 0;
  for (int r = 0; r < rows; ++r) {
    sum += x[static_cast<size_t>(r) * cols + c];
  }
  y[c] = sum;
}

__global__ void online_softmax(int rows, int cols, const float* __restrict__ x,
                               float* __restrict__ y) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) {
    return;
  }
  const float* in = x + static_cast<size_t>(row) * cols;
  float top = -1e30f;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) {
    const float v = in[c];
    const float next = fmaxf(top, v);
    sum = sum * expf(top - next) + expf(v - next);
    top = next;
  }
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_xor_sync(kAll, top, o);
    const float its = __shfl_xor_sync(kAll, sum, o);
    const float next = fmaxf(top, other);
    sum = sum * expf(top - next) + its * expf(other - next);
    top = next;
  }
  for (int c = lane; c < cols; c += 32) {
    y[static_cast<size_t>(row) * cols + c] = expf(in[c] - top) / sum;
  }
}

}  // extern "C"
