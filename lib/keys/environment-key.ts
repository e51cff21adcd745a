/** The id under which what SVC_API_KEY records is attributed; a key without a secret in the demo workspace. */
export const environmentKeyId = "00000000-0000-4000-8000-0000000000e1";

/** The demo workspace, which `npm start` seeds and the environment's key belongs to. */
export const demoWorkspaceId = "00000000-0000-4000-8000-0000000000d0";
