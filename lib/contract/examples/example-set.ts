/** An example of a schema, as the documentation shows it. */
export type Example = { summary?: string; value: unknown };

/** What the documentation shows of a resource: requests by schema id and name, answers by schema id. */
export type ExampleSet = {
  requests?: Record<string, Record<string, Example>>;
  responses: Record<string, unknown>;
};
