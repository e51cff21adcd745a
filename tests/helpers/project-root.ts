/** The folder of the repository, with a slash at its end. */
export { root as projectRoot } from "@/scripts/root.mjs";
