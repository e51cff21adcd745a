import type { ClientBase } from "pg";
import { callAsService } from "@/lib/db/transaction";
import { validationFailed } from "@/lib/errors";
import { canSeal, seal, unseal } from "@/lib/seal";
import { setSlackSecret } from "./slack-queries";

/** What a signing secret is sealed for: its channel. */
const subjectOf = (workspaceId: string, channelId: string) => `slack_secret ${workspaceId} ${channelId}`;

/**
 * Sets or removes (null) the signing secret of the app that posts to a Slack channel, as the service in an admin's transaction.
 * @throws ServiceError validation_failed if the service cannot seal it
 */
export async function storeSlackSecret(
  client: ClientBase,
  workspaceId: string,
  channelId: string,
  secret: string | null,
): Promise<void> {
  if (secret !== null && !canSeal()) {
    const message =
      "cannot be kept: the service has no key to seal it with. Whoever runs it sets SEALING_KEYS (openssl rand -base64 32)";
    throw validationFailed([{ path: "signing_secret", message }]);
  }
  const sealed = secret === null ? null : seal(secret, subjectOf(workspaceId, channelId));
  await setSlackSecret(client, workspaceId, channelId, sealed);
}

/** The signing secret of a channel, and as it is stored; undefined if the channel takes no clicks. @throws SealError */
export async function loadSlackSecret(
  channelId: string,
): Promise<{ workspaceId: string; secret: string; sealed: string } | undefined> {
  const app = await callAsService<{ workspace_id: string; sealed: string } | null>(
    "private.slack_app",
    channelId,
  );
  if (!app) return undefined;
  const { workspace_id: workspaceId, sealed } = app;
  const subject = subjectOf(workspaceId, channelId);
  const { secret, isOld } = unseal(sealed, subject);
  if (!isOld) return { workspaceId, secret, sealed };
  const renewed = seal(secret, subject);
  await callAsService("private.reseal_slack_secret", channelId, sealed, renewed);
  return { workspaceId, secret, sealed: renewed };
}
