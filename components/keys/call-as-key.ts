/** The outcome of a call: whether it succeeded, a sentence that says so, and the body of the answer. */
export type KeyAnswer = { ok: boolean; message: string; body: string };

/** Calls the API with a key instead of the session cookie. Never throws. */
export async function callAsKey(
  secret: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<KeyAnswer> {
  try {
    const response = await fetch(path, {
      method,
      credentials: "omit",
      headers: {
        Authorization: `Bearer ${secret}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const message = response.ok
      ? `It works: the API answered ${response.status}.`
      : `The API answered ${response.status}: ${reasonOf(text)}`;
    return { ok: response.ok, message, body: indent(text) };
  } catch {
    return { ok: false, message: "Outlay cannot be reached. Try again in a moment.", body: "" };
  }
}

function reasonOf(text: string): string {
  try {
    return JSON.parse(text).error_description;
  } catch {
    return "no reason was given.";
  }
}

/** Indented JSON; unchanged when parsing would lose digits of a number. */
function indent(text: string): string {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text.trim();
  } catch {
    return text.trim();
  }
}
