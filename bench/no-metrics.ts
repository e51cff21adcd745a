// Replaces `lib/metrics.ts` in a bundle without metrics, which the bench compares with the shipped one.

const nothing = () => {};

export const metrics = {
  requests: { observe: nothing },
  refusals: { inc: nothing },
  messages: { inc: nothing },
  groupCalls: { observe: nothing },
  groupRetries: { inc: nothing },
  databaseCalls: { observe: nothing },
  jobRuns: { inc: nothing },
};

export const readGauge = nothing;

export const renderMetrics = async () => ({ text: "", contentType: "text/plain" });
