/** A way to prove a second factor, as the settings list it. */
export type FactorView = { id: string; name: string; createdAt: string; lastUsedAt: string | null };

/** What somebody's authenticator app needs: a picture of the secret, and the secret to type. */
export type Enrolment = { factorId: string; qrCode: string; secret: string };

/** How many recovery codes are left. */
export type CodesLeft = { total: number; remaining: number };

type Refused = { error: string };

/** What the settings of two-factor authentication do, by server actions. */
export type SecondFactorActions = {
  begin: (name: string) => Promise<Enrolment | Refused>;
  /** @returns the recovery codes that were made with it; null where there are some already, or none can be had */
  confirm: (factorId: string, code: string) => Promise<{ codes: string[] | null } | Refused>;
  /** @param by whose code it is that was given */
  remove: (factorId: string, by: string, code: string) => Promise<{ removed: string } | Refused>;
  renewCodes: () => Promise<{ codes: string[] } | Refused>;
};

/** A code in blocks of four, to be read and typed. */
export function inBlocks(code: string): string {
  return code.match(/.{1,4}/g)?.join("-") ?? code;
}

/** What the field for an app's code is made of. */
export const codeField = {
  name: "code",
  inputMode: "numeric",
  autoComplete: "one-time-code",
  pattern: "[0-9 ]*",
  maxLength: 7,
  required: true,
} as const;
