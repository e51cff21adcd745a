/** The most tags of a message, and of a source's settings. This file imports no package, because browsers load it. */
export const maxTags = 10;

/** The most messages that one action voids or corrects. */
export const maxBulkMessages = 1_000;
