import { expect, test } from "vitest";
import { readBucketFolder } from "./bucket-address";

const read = (address: string, store: "s3" | "azure" = "s3") => {
  const found = readBucketFolder(address, store);
  return found && [found.endpoint.href, found.prefix, found.region];
};

test("names the bucket, the folder and the region of an address", () => {
  expect(read("https://s3.eu-central-1.amazonaws.com/bills/a/b/")).toEqual([
    ...["https://s3.eu-central-1.amazonaws.com/bills", "a/b", "eu-central-1"],
  ]);
  expect(read("https://bills.s3.us-west-2.amazonaws.com/a")).toEqual([
    ...["https://bills.s3.us-west-2.amazonaws.com/", "a", "us-west-2"],
  ]);
  expect(read("https://storage.googleapis.com/bills")).toEqual([
    ...["https://storage.googleapis.com/bills", "", "us-east-1"],
  ]);
  expect(read("https://acme.blob.core.windows.net/bills/x%20y", "azure")).toEqual([
    ...["https://acme.blob.core.windows.net/bills", "x y", "us-east-1"],
  ]);
  expect(read("http://127.0.0.1:10000/account/bills/x", "azure")?.slice(0, 2)).toEqual([
    ...["http://127.0.0.1:10000/account/bills", "x"],
  ]);
});

test("is nothing without a bucket, with a secret in it, or of another protocol", () => {
  const wrong = [
    "https://storage.googleapis.com/",
    "https://x.y/bills?sig=1",
    "https://u:p@x.y/bills",
    "s3://bills/a",
  ];
  for (const address of wrong) expect(read(address), address).toBeUndefined();
  expect(read("https://acme.blob.core.windows.net", "azure")).toBeUndefined();
});
