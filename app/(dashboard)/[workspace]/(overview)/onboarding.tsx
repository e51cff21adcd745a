import { FirstStepsOnDemand } from "@/components/onboarding/first-steps-on-demand";
import { listChannels } from "@/lib/alerts/channels/service";
import { listApiKeys } from "@/lib/keys/management/service";
import { listBudgets } from "@/lib/spend/budgets/service";
import { requireWorkspace } from "../membership";
import { serviceAddresses } from "../service-addresses";

/** What the overview shows before the first message: the steps to it, and to being told. */
export async function Onboarding({ slug }: { slug: string }) {
  const { claims, profile } = await requireWorkspace(slug);
  const [
    { api_keys: keys, can_create: canCreate },
    { budgets, can_edit: canEdit },
    { channels, can_mail: canMail },
  ] = await Promise.all([listApiKeys(claims, slug), listBudgets(claims, slug), listChannels(claims, slug)]);
  const existing = keys.find(({ status, kind }) => status === "active" && kind === "key");
  return (
    <FirstStepsOnDemand
      workspace={slug}
      userName={profile.display_name}
      canCreate={canCreate}
      existing={
        existing ? { name: existing.name, prefix: existing.prefix, last_four: existing.last_four } : null
      }
      addresses={serviceAddresses()}
      told={{
        budgets: budgets.map(({ name }) => name),
        channels: channels.filter(({ enabled }) => enabled).map(({ name }) => name),
        canEdit,
        canMail,
      }}
    />
  );
}
