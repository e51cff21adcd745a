import { Problem } from "@/components/requests/api";

/** An authenticator app of the user. Times are ISO 8601. */
export type FactorView = { id: string; name: string; createdAt: string; lastUsedAt: string | null };

/** An enrolment that is not confirmed yet: its secret as the URL of a QR code, and as text. */
export type Enrolment = { factorId: string; qrCode: string; secret: string };

/** How many of the user's recovery codes are not used yet. */
export type CodesLeft = { total: number; remaining: number };

type Failed = { error: string };

/** The server actions of the two-factor settings. Each answers with `error`, a message for the user, when it fails. */
export type SecondFactorActions = {
  begin: (name: string) => Promise<Enrolment | Failed>;
  /** @returns the recovery codes that were created, too; null if there are some already, or they are not supported */
  confirm: (factorId: string, code: string) => Promise<{ codes: string[] | null } | Failed>;
  /** @param by the id of the authenticator that generated the code */
  remove: (factorId: string, by: string, code: string) => Promise<{ removed: string } | Failed>;
  renewCodes: () => Promise<{ codes: string[] } | Failed>;
};

/** The answer of a server action. @throws Problem when it failed */
export async function unwrap<Answer extends object>(action: Promise<Answer | Failed>): Promise<Answer> {
  const answer = await action;
  if ("error" in answer) throw new Problem(String(answer.error));
  return answer;
}

/** A recovery code in groups of four characters, which are easier to read and type. */
export function groupCode(code: string): string {
  return code.match(/.{1,4}/g)?.join("-") ?? code;
}

/** Props of a field for an authenticator's code. */
export const codeField = {
  name: "code",
  inputMode: "numeric",
  autoComplete: "one-time-code",
  pattern: "[0-9 ]*",
  maxLength: 7,
  required: true,
} as const;
