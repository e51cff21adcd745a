// `npm run test:clocks`: runs the unit tests at times when code that uses the clock may break: seconds before the end of a month and of a
// year, on 29 February, and while clocks change, in a time zone where they do. `npm run test:clocks -- 2027-03-28T00:59:50Z Europe/Berlin`
// runs them at one instant. Only the JavaScript clock is set, so tests on Postgres cannot run this way.
import { spawnSync } from "node:child_process";
import { root } from "./root.mjs";

/** Instants in UTC, each with the time zone of the process. The clock passes the end of the period while the tests run. */
const clocks = [
  ["2027-01-31T23:59:50Z", "UTC"],
  ["2027-03-28T00:59:50Z", "Europe/Berlin"],
  ["2027-11-07T05:59:50Z", "America/New_York"],
  ["2028-02-29T12:00:00Z", "UTC"],
  ["2028-02-29T23:59:50Z", "Pacific/Auckland"],
  ["2027-12-31T23:59:50Z", "UTC"],
];

const [at, zone = "UTC"] = process.argv.slice(2);
const failed = (at ? [[at, zone]] : clocks).filter((clock) => {
  console.log(`\n${clock.join(" ")}`);
  return run(...clock) !== 0;
});
for (const clock of failed) console.log(`failed at ${clock.join(" ")}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** @returns the exit status of the unit tests in a process whose clock starts at `instant` */
function run(instant, timeZone) {
  const byMs = Date.parse(instant) - Date.now();
  if (Number.isNaN(byMs)) throw new Error(`${instant}: must be an instant such as 2028-02-29T12:00:00Z.`);
  const code = `const now = Date.now, Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length > 0 ? super(...given) : super(Date.now()); }
      static now() { return now() + ${byMs}; }
    };`;
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "unit", "--reporter=dot"];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      TZ: timeZone,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
    },
  });
  return status;
}
