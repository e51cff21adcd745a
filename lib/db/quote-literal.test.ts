import fc from "fast-check";
import { escapeLiteral } from "pg";
import { test } from "vitest";
import { quoteLiteral } from "./quote-literal";

test("Makes the same literal as pg for every text", () => {
  const hostile = fc.stringMatching(/^['"\\;$a-z -]*$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), hostile), (text) => quoteLiteral(text) === escapeLiteral(text)),
  );
});
