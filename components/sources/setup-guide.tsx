import { Alert } from "@/components/ui/alert";
import { CodeBlock } from "@/components/ui/code-block";
import type { SourceProgram } from "@/lib/contract/sources/source-programs";
import { programs } from "./programs";
import type { SetupContext } from "./setup";

/** The instructions and snippets that make a program send to this service. */
export function SetupGuide({ program, context }: { program: SourceProgram; context: SetupContext }) {
  const { setup, label, isHosted, unreported } = programs[program];
  const { steps, blocks, note } = setup(context);
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(new URL(context.url).hostname);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="max-w-[68ch] text-sm [overflow-wrap:anywhere]">{steps}</p>
      {blocks.map(({ title, language, code }) => (
        <CodeBlock key={title} title={title} language={language} code={code} />
      ))}
      {note ? <p className="max-w-[68ch] text-muted-foreground text-sm">{note}</p> : null}
      {unreported ? <p className="max-w-[68ch] text-muted-foreground text-sm">{unreported}</p> : null}
      {isHosted && isLocal ? (
        <Alert>
          {label} sends from its own servers, which cannot reach this machine's local address. Serve Outlay at
          a public address first.
        </Alert>
      ) : null}
    </div>
  );
}
