// Lists failed tests at the end of `npm test`, because the output of the runners about them is thousands of lines above.
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** The most lines that `describeFailed` returns, and the most lines of one test's error. */
const mostLines = 60;
const linesOfError = 6;

/**
 * @typedef {{ name: string, error: string }} Failed a failed test: its file and title, and its error
 */

/**
 * The failed tests of Vitest's JSON report, and the files that failed outside of their tests.
 * @param {{ testResults: { name: string, status: string, message: string, assertionResults: { fullName: string, status: string,
 *   failureMessages: string[] | null }[] }[] }} report
 * @param {string} folder the folder to which the paths of files are made relative
 * @returns {Failed[]}
 */
export function failedInVitest({ testResults }, folder) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(folder, name);
    const tests = assertionResults
      .filter((test) => test.status === "failed")
      .map(({ fullName, failureMessages }) => ({
        name: `${file} › ${fullName}`,
        error: failureMessages?.[0] ?? "",
      }));
    // A file that could not be loaded, or whose set-up failed, has no test that reports the failure.
    return status === "failed" && tests.length === 0 ? [{ name: file, error: message }] : tests;
  });
}

/**
 * The failed tests of Playwright's JSON report, and the errors outside of tests.
 * @typedef {{ file: string, line: number, title: string, tests: { projectName: string, status: string,
 *   results: { errors: { message?: string }[] }[] }[] }} Spec
 * @typedef {{ title: string, file: string, specs?: Spec[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[], errors: { message?: string }[] }} report
 * @param {string} folder the folder of the tests, as part of their names
 * @returns {Failed[]}
 */
export function failedInPlaywright({ suites, errors }, folder) {
  /** @param {Suite} suite @param {string[]} titles @returns {Failed[]} */
  const failedIn = ({ specs = [], suites: inner = [] }, titles) => [
    ...specs.flatMap(({ file, line, title, tests }) =>
      tests
        .filter(({ status }) => status === "unexpected")
        .map(({ projectName, results }) => ({
          name: [`${folder}/${file}:${line} (${projectName})`, ...titles, title].join(" › "),
          // A test that timed out has a second error with what it waited for.
          error:
            results
              .at(-1)
              ?.errors.map(({ message = "" }) => message)
              .join("\n") ?? "",
        })),
    ),
    ...inner.flatMap((suite) => failedIn(suite, [...titles, suite.title])),
  ];
  return [
    ...suites.flatMap((suite) => failedIn(suite, [])),
    ...errors.map(({ message = "" }) => ({ name: `${folder} (outside of any test)`, error: message })),
  ];
}

/**
 * @param {Failed[]} failed
 * @returns lines with the name of each failed test and the first lines of its error, as many as fit; empty if none failed
 */
export function describeFailed(failed) {
  if (failed.length === 0) return [];
  const forEach = Math.floor((mostLines - 2) / failed.length) - 1;
  const lines = failed.flatMap(({ name, error }) => [
    `  ${name}`,
    ...firstLines(error, Math.max(0, Math.min(linesOfError, forEach))).map((line) => `      ${line}`),
  ]);
  const shown = lines.length <= mostLines - 1 ? lines : lines.slice(0, mostLines - 2);
  const left = lines.length - shown.length;
  return ["Failed:", ...shown, ...(left > 0 ? [`  … and ${left} more`] : [])];
}

/**
 * The first lines of an error, without colours, empty lines and stack frames except the first one in the repository.
 * @param {string} error @param {number} most
 */
function firstLines(error, most) {
  const lines = stripVTControlCharacters(error)
    .split("\n")
    .map((line) => line.trimEnd().slice(0, 200))
    .filter((line) => line.trim());
  const frame = lines.find((line) => isFrame(line) && !/node:|node_modules/.test(line));
  return lines.filter((line) => !isFrame(line) || line === frame).slice(0, most);
}

/** Whether a line is a frame of a stack. @param {string} line */
const isFrame = (line) => /^\s*at /.test(line);
