import fc from "fast-check";

// Puts the cause of a failed property into its message: the list of failed tests shows messages and no causes.
fc.configureGlobal({ includeErrorInReport: true });
