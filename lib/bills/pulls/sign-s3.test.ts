import { expect, test } from "vitest";
import { signS3 } from "./sign-s3";

test("signs as the documentation of S3 does: its example of a list", () => {
  const url = new URL("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J");
  const credentials = {
    ...{ keyId: "AKIAIOSFODNN7EXAMPLE", region: "us-east-1" },
    secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
  const { Authorization: authorization } = signS3(url, credentials, new Date("2013-05-24T00:00:00Z"));
  expect(authorization).toContain("SignedHeaders=host;x-amz-content-sha256;x-amz-date");
  expect(authorization).toMatch(
    /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/,
  );
});
