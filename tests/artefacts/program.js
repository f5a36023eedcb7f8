// Evaluates a module of `mansard compile --emit wasm` at 37 batches: program.js FILE.wasm
const points = 37;
WebAssembly.instantiate(require("fs").readFileSync(process.argv[2])).then(({instance}) => {
  const {memory, mansard_evaluate, __heap_base} = instance.exports;
  const base = (__heap_base.value + 7) & ~7;
  memory.grow(1);
  const column = (i) => base + 8 * (8 + points * i);
  const pointers = new Uint32Array(memory.buffer, base, 16);
  pointers[0] = column(0);
  pointers[1] = column(1);
  pointers[2] = column(2);
  const values = (i) => new Float64Array(memory.buffer, column(i), points);
  values(0).set(Array.from({length: points}, (_, i) => i + 1));
  mansard_evaluate(base, base + 4, BigInt(points));
  for (let i = 0; i < points; ++i) {
    console.log([0, 1, 2].map((k) => values(k)[i]).join(","));
  }
});
