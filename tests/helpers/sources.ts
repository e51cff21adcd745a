import { expect } from "vitest";
import type { Source } from "@/lib/contract/sources/sources";
import type { Harness } from "./harness";
import type { KeyOptions } from "./keys";
import { makeSource } from "./otlp-source";
import { makeTeam, type Team } from "./team";

/** A team, and a key of its workspace with which a program sends. */
export async function makeTeamSource(harness: Harness, options: KeyOptions = {}, team?: Team) {
  const of = team ?? (await makeTeam(harness));
  const source = await makeSource(harness, options, of.workspace);
  const owner = of.users.owner;
  const path = `${of.path}/sources/${source.id}`;
  const edit = async (body: Record<string, unknown>) => {
    const answer = await owner.call("PATCH", `${of.path}/api-keys/${source.id}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const configure = (settings: Record<string, unknown> | null) => edit({ source: settings });
  const read = async () => (await owner.get(path)).body as unknown as Source;
  /** Reads until something holds, because what came in is stored after the answer. */
  const until = async (holds: (source: Source) => boolean) => {
    await expect.poll(async () => holds(await read()), { timeout: 30_000 }).toBe(true);
    return read();
  };
  const replay = async () => owner.call("POST", `${path}/replay`);
  return { ...source, team: of, path, edit, configure, read, until, replay };
}
