import { buildClient } from "@/scripts/build-client.mjs";

/** Builds and packs `@outlay/client` before the tests of it. */
export async function setup(): Promise<void> {
  await buildClient();
}
