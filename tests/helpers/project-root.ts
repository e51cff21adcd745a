import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const projectRoot = fileURLToPath(new URL("../../", import.meta.url));
