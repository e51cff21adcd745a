/** What the API said to a key: whether it took it, that in a sentence, and its answer as it came. */
export type KeyAnswer = { ok: boolean; says: string; body: string };

/** Calls the API as a key, not as whoever is signed in: without the session's cookie. Never throws. */
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
    const says = response.ok
      ? `It works: the API answered ${response.status}.`
      : `The API refused it with ${response.status}: ${reasonOf(text)}`;
    return { ok: response.ok, says, body: indent(text) };
  } catch {
    return { ok: false, says: "The service could not be reached. Try again in a moment.", body: "" };
  }
}

function reasonOf(text: string): string {
  try {
    return JSON.parse(text).error_description;
  } catch {
    return "it did not say why.";
  }
}

/** Over several lines, where that loses no digit of it. */
function indent(text: string): string {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text.trim();
  } catch {
    return text.trim();
  }
}
