import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@/tests/helpers/free-port";
import { projectRoot } from "@/tests/helpers/project-root";
import { blockWith, settingsIn } from "./document";
import { asUser, healthy, quote, seen, shell, shellAs, start, stopAll } from "./machine";
import { recordCent } from "./outlay";

const host = "outlay.example.com";
const certificates = `/etc/letsencrypt/live/${host}`;
const made = [
  "/opt/outlay",
  "/etc/outlay.env",
  "/etc/systemd/system/outlay.service",
  "/var/lib/outlay",
  "/var/lib/outlay-2",
  certificates,
];

/** "One machine": the commands, the unit, nginx, and a backup that is restored. */
export async function oneMachine(): Promise<void> {
  const there = made.filter((path) => existsSync(path));
  if (there.length > 0) throw new Error(`This would overwrite ${there.join(", ")}.`);
  const folder = mkdtempSync(join(tmpdir(), "outlay-walk-"));
  try {
    await installed(folder);
    const unit = blockWith("One machine", "[Service]");
    writeFileSync("/etc/systemd/system/outlay.service", unit);
    const problems = shell("systemd-analyze verify /etc/systemd/system/outlay.service 2>&1 || true").trim();
    seen("systemd finds no fault in the unit", problems === "", problems);
    const service = startUnit(unit, join(folder, "journal.log"));
    await healthy("http://127.0.0.1:3000", service);
    const key = /Demo key: (\S+)/.exec(service.output())?.[1] ?? "";
    seen("the journal shows the key of the demo", key.startsWith("svc_"));
    seen("its links have the public address", service.output().includes(`https://${host}/sign-in`));

    behindNginx(folder);
    const answered = (path: string, more = "") =>
      shell(
        `curl -sS -o /dev/null -w '%{http_code}' --retry 20 --retry-connrefused --retry-delay 1 --cacert ${certificates}/fullchain.pem --resolve ${host}:443:127.0.0.1 ${more} https://${host}${path}`,
      );
    for (const path of ["/api/health", "/sign-in", "/docs"])
      seen(`nginx serves ${path} by https`, answered(path) === "200", answered(path));
    seen("another name is refused", answered("/api/health", "-H 'Host: elsewhere.example.com'") === "421");
    await recordCent({ address: "http://127.0.0.1:3000" }, key);

    const page = "The embedded database";
    const env = settingsIn(blockWith("One machine", "OUTLAY_DATA_DIR="));
    const [backup = "", restore = ""] = blockWith(page, "npm run backup").trim().split("\n");
    shellAs("outlay", backup, "/opt/outlay/app", env);
    const stopped = Date.now();
    await service.stop();
    seen(
      "a stop takes less than the unit's ten seconds",
      Date.now() - stopped < 10_000,
      Date.now() - stopped,
    );
    const left = shell("pgrep -u outlay -x postgres || true").trim();
    seen("and leaves no Postgres behind", left === "", left);
    shell(blockWith(page, "install -d"));
    shellAs("outlay", restore, "/opt/outlay/app", env);
    const other = { ...env, OUTLAY_DATA_DIR: "/var/lib/outlay-2" };
    const again = startUnit(unit, join(folder, "again.log"), other);
    await healthy("http://127.0.0.1:3000", again);
    shellAs("outlay", "npm run reconcile", "/opt/outlay/app", other);
    seen("the restored backup serves, and npm run reconcile finds no difference", true);
    await again.stop();
  } finally {
    await stopAll();
    shell(`userdel outlay 2>/dev/null || true; rm -rf ${[...made, folder].map(quote).join(" ")}`);
  }
}

/** The commands that make the user, the clone and the settings. */
async function installed(folder: string): Promise<void> {
  const port = await freePort();
  shell(`git clone -q --bare ${quote(projectRoot)} ${folder}/outlay.git`);
  start(
    `git daemon --listen=127.0.0.1 --port=${port} --base-path=${folder} --export-all ${folder}/outlay.git`,
    join(folder, "git.log"),
  );
  const repository = `git://127.0.0.1:${port}/outlay.git`;
  shell(`until git ls-remote -q ${repository} >/dev/null 2>&1; do sleep 0.2; done`);
  const commands = blockWith("One machine", "useradd --system", [["<this repository>", repository]]);
  shell(commands);
}

/** Starts what the unit starts, as systemd would, in a machine that systemd does not run. */
function startUnit(unit: string, journal: string, more: Record<string, string> = {}) {
  const keyOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const state = `/var/lib/${keyOf("StateDirectory")}`;
  const user = keyOf("User");
  shell(`install -d -o ${user} -g ${keyOf("Group")} -m ${keyOf("StateDirectoryMode")} ${state}`);
  const env = { ...settingsIn(shell(`cat ${keyOf("EnvironmentFile")}`)), ...more };
  return start(`${asUser(user, env, keyOf("ExecStart"))}`, journal, keyOf("WorkingDirectory"));
}

/** nginx with the page's configuration and a certificate of its own. */
function behindNginx(folder: string): void {
  mkdirSync(certificates, { recursive: true });
  shell(
    `openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=${host} -addext subjectAltName=DNS:${host} -keyout ${certificates}/privkey.pem -out ${certificates}/fullchain.pem 2>/dev/null`,
  );
  // Debian 12 has nginx 1.22, for which the page has another line.
  const site = blockWith("One machine", "proxy_pass http://outlay", [
    ["  http2 on;\n", ""],
    ["listen 443 ssl;", "listen 443 ssl http2;"],
  ]);
  const configuration = join(folder, "nginx.conf");
  writeFileSync(
    configuration,
    `daemon off;\npid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\nevents {}\nhttp {\naccess_log off;\n${site}}\n`,
  );
  start(`nginx -c ${configuration}`, join(folder, "nginx.log"));
}
