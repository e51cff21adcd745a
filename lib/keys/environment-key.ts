/**
 * The id of the key to which records with SVC_API_KEY are attributed; it has no secret and is in the demo workspace.
 */
export const environmentKeyId = "00000000-0000-4000-8000-0000000000e1";

/** The demo workspace, which `npm start` seeds and which the environment key belongs to. */
export const demoWorkspaceId = "00000000-0000-4000-8000-0000000000d0";
