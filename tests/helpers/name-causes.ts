import fc from "fast-check";

// The error of a failed property tells its cause, which the list of failed tests would leave out.
fc.configureGlobal({ includeErrorInReport: true });
