/** An example of a schema in the documentation. */
export type Example = { summary?: string; value: unknown };

/** The examples of a resource: requests by schema id and name, answers by schema id. */
export type ExampleSet = {
  requests?: Record<string, Record<string, Example>>;
  responses: Record<string, unknown>;
};
