import { CodeBlock } from "@/components/ui/code-block";
import { Tabs } from "@/components/ui/tabs";
import { assistantSetups } from "./assistants";

/** Instructions to connect an assistant, with a tab for each common one. @param props.url the agent tools' endpoint */
export function ConnectGuide({ url }: { url: string }) {
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
  return (
    <section aria-labelledby="connect" className="grid max-w-3xl gap-3">
      <div className="grid gap-1">
        <h2 id="connect" className="font-medium text-sm">
          Connect an assistant
        </h2>
        <p className="text-muted-foreground text-sm">
          The assistant asks you to sign in here. You choose the workspace and what the assistant may do.
        </p>
      </div>
      <Tabs
        label="Assistants"
        tabs={assistantSetups(url).map(({ name, title, language, code, steps, isHosted }) => ({
          id: name.replaceAll(" ", "-"),
          label: name,
          content: (
            <div className="grid gap-2.5">
              <p className="text-sm">{steps}</p>
              <CodeBlock title={title} language={language} code={code} />
              {isHosted && isLocal ? (
                <p className="text-muted-foreground text-sm">
                  {name} connects from its provider's servers, which cannot reach this machine's local
                  address. Serve Outlay at a public address first.
                </p>
              ) : null}
            </div>
          ),
        }))}
      />
    </section>
  );
}
