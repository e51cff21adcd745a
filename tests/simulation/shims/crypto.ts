// In place of `node:crypto` in a simulated process: what is random comes from the seed.
import { host } from "./host";

export * from "node:crypto";
export const randomFillSync = <T extends NodeJS.ArrayBufferView>(view: T): T => host.random.fill(view);
export const randomBytes = (size: number): Buffer => host.random.fill(Buffer.alloc(size));
export const randomInt = (below: number): number => host.random.int(0, below - 1);
export const randomUUID = (): string => host.random.uuid();
