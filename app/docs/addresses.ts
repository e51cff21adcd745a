/**
 * The address of the service in the generated files: that of `npm start`. The real address is not known when the files are
 * built, so the browser replaces it with the address of the page (`browser/docs.ts`).
 */
export const defaultAddress = "http://127.0.0.1:3000";

/** The path of the agent tools' endpoint. */
export const toolsPath = "/api/mcp";
