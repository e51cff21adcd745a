import { execFileSync, type SpawnSyncOptions, spawnSync } from "node:child_process";
import { statSync } from "node:fs";

/** An unprivileged account of this machine. */
export type SystemAccount = { name: string; uid: number; gid: number };

/**
 * The account that Postgres must run as; undefined for the account of this process. Postgres refuses to run as root and looks up its
 * account by uid, so the account needs an entry in the machine's user database.
 * @param cluster the cluster's folder: if it exists, its owner is the account
 * @throws Error if this process runs as root and the machine has no unprivileged account
 */
export function accountForPostgres(cluster: string | undefined): SystemAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = cluster ? statSync(cluster, { throwIfNoEntry: false }) : undefined;
  const wanted = owner && owner.uid !== 0 ? [String(owner.uid)] : ["postgres", "nobody"];
  for (const name of wanted) {
    const account = lookUp(name);
    if (account && account.uid !== 0) return account;
  }
  throw new Error(
    `The embedded Postgres does not run as root, and there is no account ${wanted.join(" or ")} to run it under. ` +
      "Start Outlay as an ordinary user, or create the account.",
  );
}

function lookUp(nameOrUid: string): SystemAccount | undefined {
  try {
    const id = (option: string) =>
      Number(execFileSync("id", [option, nameOrUid], { encoding: "utf8", stdio: "pipe" }));
    return { name: nameOrUid, uid: id("-u"), gid: id("-g") };
  } catch {
    return undefined;
  }
}

/** The options of `spawn` to run a program as the account, or as the account of this process. */
export function asAccount(account: SystemAccount | undefined): SpawnSyncOptions {
  // Programs on Windows need the system's variables. Elsewhere, Postgres gets none of this process's variables.
  if (process.platform === "win32") return { windowsHide: true };
  return {
    // The account may not be allowed to enter this process's working directory.
    cwd: "/",
    env: { LC_ALL: "C", TZ: "UTC", NODE_ENV: "production" },
    ...(account && { uid: account.uid, gid: account.gid }),
  };
}

/** Whether the account can enter a folder. Tries it, so that parent folders and ACLs count. */
export function canEnter(folder: string, account: SystemAccount | undefined): boolean {
  if (!account) return true;
  return (
    spawnSync("/bin/sh", ["-c", 'cd "$0"', folder], { ...asAccount(account), stdio: "ignore" }).status === 0
  );
}
