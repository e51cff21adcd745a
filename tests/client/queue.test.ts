import { expect, test } from "vitest";
import { type Entry, Queue } from "@/packages/client/src/queue";

const entry = (number: number, bytes = 10): Entry => ({
  number,
  text: "x".repeat(bytes),
  bytes,
  isOwnTime: true,
  mayExist: false,
});
const numbers = (entries: Entry[]) => entries.map(({ number }) => number);

test("Counts the bytes of what is sent again, and no longer those of what is settled", () => {
  const queue = new Queue(100, 30);
  const [first, second, third] = [1, 2, 3].map((number) => entry(number));
  if (!first || !second || !third) throw new Error("There are three.");
  expect([first, second, third, entry(4)].map((each) => queue.push(each))).toEqual([true, true, true, false]);
  queue.replace(3, [first, second]);
  expect([queue.push(entry(5)), queue.push(entry(6, 1))]).toEqual([true, false]);
  queue.replace(3, []);
  expect(queue.push(entry(7, 30))).toBe(true);
});

test("Keeps the order: what is sent again comes before what waits", () => {
  const queue = new Queue(100, 1000);
  for (const number of [1, 2, 3, 4]) queue.push(entry(number));
  queue.replace(3, [entry(2)]);
  expect(numbers(queue.first(10, 1000))).toEqual([2, 4]);
  expect([1, 2, 3].map((number) => queue.hasUpTo(number))).toEqual([false, true, true]);
});

test("Gives as many messages as fit into a body, and always one", () => {
  const queue = new Queue(100, 1000);
  for (const number of [1, 2, 3]) queue.push(entry(number));
  const bodyOf = (entries: Entry[]) => `{"messages":[${entries.map(({ text }) => text).join()}]}`;
  const two = bodyOf([entry(1), entry(2)]).length;
  expect(numbers(queue.first(10, two + 1))).toEqual([1, 2]);
  expect(numbers(queue.first(10, two - 1))).toEqual([1]);
  expect(numbers(queue.first(2, 1000))).toEqual([1, 2]);
  expect(numbers(queue.first(10, 1))).toEqual([1]);
});
