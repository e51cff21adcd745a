/** The tags that a message has at most, and a source gives it. Free of packages, for the browser. */
export const maxTags = 10;

/** So many messages are voided or corrected by one action at most. */
export const maxBulkMessages = 1_000;
