import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ClosedMonthList, LedgerMonth } from "@/lib/contract/ledger/closed-months";
import { dayOf } from "@/lib/contract/values/instant";
import { closed } from "./closable-months";
import type { Harness } from "./harness";
import { clientIn } from "./recording";
import { makeTeam, type User } from "./team";

/** What a message was answered with. */
export type Added = { id: string; created_at: string; amount_usd: number; adjusts?: string };

/** A team of its own with a key, and what its members do with months. */
export async function makeClosingTeam(harness: Harness) {
  const team = await makeTeam(harness);
  const key = await clientIn(harness, team.workspace);
  const path = `${team.path}/closed-months`;
  const { admin, viewer } = team.users;
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const download = async (address: string) => {
    const answer = await fetch(`${baseUrl}${address}`, {
      headers: { authorization: `Bearer ${viewer.token}` },
    });
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  };
  const list = async () => (await viewer.get(path)).body as unknown as ClosedMonthList;
  const monthOf = async (month = closed) =>
    (await list()).months.find((each) => each.month === month) as LedgerMonth;
  return {
    ...team,
    key,
    monthsPath: path,
    list,
    monthOf,
    close: (month = closed, user: User = admin) => user.call("POST", path, { month }),
    reopen: async (month = closed, user: User = admin) =>
      user.call("POST", `${path}/${(await monthOf(month)).closing?.id}/reopen`, {
        reason: "A late invoice.",
      }),
    /** Records a message with the key. */
    add: async (message: object, project = "checkout") => {
      const { status, body } = await key.post({ project, source: "api", message });
      expect(status, JSON.stringify(body)).toBe(201);
      return body as Added;
    },
    voids: (id: string) => admin.call("POST", `${team.path}/messages/${id}/void`, { reason: "Twice." }),
    corrects: (id: string, message: object) =>
      admin.call("POST", `${team.path}/messages/${id}/correct`, {
        reason: "Wrong.",
        project: "checkout",
        message,
      }),
    detail: async (id: string) => (await viewer.get(`${team.path}/messages/${id}`)).body,
    /** The filed export of a closing. */
    filed: (id: string) => download(`${path}/${id}/export`),
    /** The export of the rows of a month. */
    exported: async (month: string, format = "csv") => {
      const [year = 0, number = 1] = month.split("-").map(Number);
      const last = dayOf(Date.UTC(year, number, 0));
      const days = `period=range&from=${month}-01&to=${last}`;
      return (await download(`${team.path}/export?${days}&format=${format}`)).toString();
    },
  };
}
export type ClosingTeam = Awaited<ReturnType<typeof makeClosingTeam>>;

export const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
