/**
 * The id of the key under which messages sent with SVC_API_KEY are recorded. It has no secret and belongs to the demo
 * workspace.
 */
export const environmentKeyId = "00000000-0000-4000-8000-0000000000e1";

/** The demo workspace, which `npm start` creates and which the environment key belongs to. */
export const demoWorkspaceId = "00000000-0000-4000-8000-0000000000d0";
