import { alertExamples } from "./examples/alerts";
import { apiKeyExamples } from "./examples/api-keys";
import { billExamples } from "./examples/bills";
import { budgetExamples } from "./examples/budgets";
import { closedMonthExamples } from "./examples/closed-months";
import { connectionExamples } from "./examples/connections";
import type { Example, ExampleSet } from "./examples/example-set";
import { gatewayExamples } from "./examples/gateways";
import { messageExamples } from "./examples/messages";
import { otlpExamples } from "./examples/otlp";
import { peopleExamples } from "./examples/people";
import { priceExamples } from "./examples/prices";
import { readExamples } from "./examples/reads";
import { recommendationExamples } from "./examples/recommendations";
import { sourceExamples } from "./examples/sources";
import { spendExamples } from "./examples/spend";
import { subscriptionExamples } from "./examples/subscriptions";
import { workspaceExamples } from "./examples/workspaces";

const sets: ExampleSet[] = [
  messageExamples,
  readExamples,
  otlpExamples,
  gatewayExamples,
  sourceExamples,
  spendExamples,
  priceExamples,
  subscriptionExamples,
  closedMonthExamples,
  billExamples,
  peopleExamples,
  workspaceExamples,
  apiKeyExamples,
  budgetExamples,
  recommendationExamples,
  alertExamples,
  connectionExamples,
];

/** Requests for the documentation, by the id of their schema. A test checks each against the schema. */
export const requestExamples: Record<string, Record<string, Example>> = Object.assign(
  {},
  ...sets.map(({ requests }) => requests),
);

/** Answers for the documentation, by the id of their schema. A test checks each against the schema. */
export const responseExamples: Record<string, unknown> = Object.assign(
  {},
  ...sets.map(({ responses }) => responses),
);
