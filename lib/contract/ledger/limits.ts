/** The tags that a message has at most, and a source gives it. Free of packages, for the browser. */
export const maxTags = 10;
