import { z } from "zod";
import { instant, uuid } from "@/lib/contract/values/fields";
import { workspaceRole } from "./me";
import { workspaceSlug } from "./workspace";

/** A member of a workspace, as the other members see them. */
export const member = z
  .object({
    user_id: uuid,
    role: workspaceRole,
    display_name: z.string().nullable(),
    email: z.string(),
    avatar_url: z.string().nullable(),
    joined_at: instant,
  })
  .meta({ id: "Member" });
export type Member = z.output<typeof member>;

/** Ids are written in lower case; another case means the same id. */
const userId = uuid.toLowerCase();

export const memberParams = z.strictObject({ slug: workspaceSlug, user_id: userId });

export const changeMemberRequest = z
  .strictObject({ role: workspaceRole })
  .meta({ id: "ChangeMemberRequest" });

export const transferRequest = z
  .strictObject({ user_id: userId.meta({ description: "A member, who becomes the owner." }) })
  .meta({ id: "TransferRequest" });

export const transferResult = z
  .object({ owner: member, former_owner: member.meta({ description: "An admin from now on." }) })
  .meta({ id: "TransferResult" });
