// `npm run bench:write -- FILE…`: writes the figures that have a target from results of `npm run bench` into the table of
// docs/performance.md. If several files have the same figure, the last one counts.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

const files = process.argv.slice(2);
if (files.length === 0)
  throw new Error("Name the files that `npm run bench` has written (bench-results/*.json).");

const results = files.map((file) => JSON.parse(readFileSync(file, "utf8")));
const figures = new Map();
for (const { summary, rounds } of results) {
  for (const [part, list] of Object.entries(summary)) {
    for (const figure of list) {
      if (figure.target) figures.set(figure.name, { ...figure, rounds: rounds[part].length });
    }
  }
}

const machine = results.at(-1).machine;
const rows = [...figures.values()].map(
  ({ name, median, min, max, unit, target, holds, rounds }) =>
    `| ${capitalise(name.replaceAll(/ \([a-f]\)/g, ""))} | ${show(median, unit)} (${show(min, unit)} to ${show(max, unit)}, ${rounds} rounds) | ${target} | ${holds ? "holds" : "missed"} |`,
);
const table = [
  `Measured on ${results.at(-1).at.slice(0, 10)} by \`npm run bench\` on ${machine.cores} cores (${machine.cpu}, ${machine.memory_gb} GB, Node ${machine.node}), which`,
  "the load, the service and its Postgres shared. Medians of interleaved rounds, with the least and the most:",
  "",
  "| | Median | Target | |",
  "|---|---|---|---|",
  ...rows,
].join("\n");

const page = join(root, "docs/performance.md");
const text = readFileSync(page, "utf8");
const between = /(<!-- figures -->\n)[\s\S]*?(<!-- end of figures -->)/;
if (!between.test(text))
  throw new Error("docs/performance.md has no place for the figures: <!-- figures -->.");
writeFileSync(
  page,
  text.replace(between, (_, start, end) => `${start}${table}\n${end}`),
);

function capitalise(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function show(value, unit) {
  const digits = unit === "%" || unit === "/s" ? value.toFixed(0) : value.toPrecision(3);
  return ["×", "%"].includes(unit) ? `${digits}${unit}` : `${digits} ${unit}`;
}
