import { attribution, conventionRules } from "./conventions";
import type { Attribution, Emitter } from "./emitter";

/** `traceloop.withAssociationProperties` and the names of workflows. */
const own: Attribution = {
  user: [
    "traceloop.association.properties.user_id",
    "traceloop.association.properties.userId",
    ...attribution.user,
  ],
  session: [
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.sessionId",
    ...attribution.session,
  ],
  feature: ["traceloop.association.properties.feature", "traceloop.workflow.name", ...attribution.feature],
  project: ["traceloop.association.properties.project", ...attribution.project],
  tags: { ...attribution.tags, team: ["traceloop.association.properties.team", "team"] },
};

const rules = conventionRules.map((rule) => ({ ...rule, attribution: own }));

/** OpenLLMetry (Traceloop). Its JavaScript instrumentation of Anthropic counts input without the cache. */
export const openLlmetry: Emitter = {
  name: "openllmetry",
  scopes: [/^@traceloop\//, /^traceloop/],
  attributes: ["traceloop.span.kind", "traceloop.workflow.name", "traceloop.association.properties.user_id"],
  rules: [
    ...rules
      .filter(({ signal }) => signal === "traces")
      .map((rule) => ({
        ...rule,
        scopes: [/^@traceloop\/instrumentation-anthropic/],
        inputHasCache: false,
      })),
    ...rules,
  ],
};
