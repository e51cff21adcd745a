import { Download } from "lucide-react";
import { buttonVariants } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { groupCode } from "./second-factor";

/** A list of recovery codes, with buttons to download and copy them. */
export function RecoveryCodes({ codes }: { codes: string[] }) {
  const text = `${codes.map(groupCode).join("\n")}\n`;
  return (
    <div className="grid gap-3">
      <ul
        aria-label="Recovery codes"
        className="grid grid-cols-[repeat(auto-fill,minmax(10.5rem,1fr))] gap-x-4 gap-y-1.5 rounded-md border bg-muted px-4 py-3 font-mono text-[13px]"
      >
        {codes.map((code) => (
          <li key={code}>{groupCode(code)}</li>
        ))}
      </ul>
      <div className="flex items-center gap-2">
        <a
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          download="outlay-recovery-codes.txt"
          className={buttonVariants({ variant: "outline", size: "sm" })}
        >
          <Download aria-hidden="true" />
          Download
        </a>
        <CopyButton text={text} label="Copy the recovery codes" className="size-8" />
      </div>
    </div>
  );
}
