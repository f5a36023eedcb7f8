// Numbers with commas between as JavaScript writes them.
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");
console.log(lines.map((line) => line.split(",").map(Number).join(",")).join("\n"));
