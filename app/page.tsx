import { CircleAlert, CircleCheck } from "lucide-react";
import { connection } from "next/server";
import { Suspense } from "react";
import { writeSnippets } from "@/components/docs/snippets";
import { SiteHeader } from "@/components/shell/site-header";
import { buttonVariants } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { CodeBlock } from "@/components/ui/code-block";
import { Link } from "@/components/ui/link";
import { requestExamples } from "@/lib/contract/examples";
import { checkHealth } from "@/lib/http/health";
import { serviceAddress } from "@/lib/service-address";

const addresses = [
  { href: "/docs", label: "API reference", about: "Every endpoint, with examples to copy" },
  { href: "/api/openapi.json", label: "OpenAPI document", about: "The reference for tools, as OpenAPI 3.1" },
  { href: "/api/health", label: "Health", about: "For a monitor; needs no credentials" },
];

/** The start page: what Outlay is, the health of this instance, and how to record a cost. */
export default async function HomePage() {
  // The address and the health are only known at the time of a request.
  await connection();
  const [curl] = writeSnippets({
    method: "POST",
    url: `${serviceAddress()}/api/v1/messages`,
    credential: "key",
    body: requestExamples.CostMessage?.usage?.value,
  });
  return (
    <>
      <SiteHeader />
      <main className="mx-auto max-w-3xl px-4 pt-14 pb-24 sm:px-6 sm:pt-20">
        <h1 className="text-balance font-semibold text-2xl leading-snug tracking-tight sm:text-3xl">
          Outlay records what your team spends on AI and software. It shows exactly what it cost, who spent it
          and whether the budget holds.
        </h1>
        <div className="mt-5">
          <Suspense fallback={<HealthLineSkeleton />}>
            <Health />
          </Suspense>
        </div>
        <div className="mt-7 flex flex-wrap gap-2">
          <Link href="/sign-in" className={buttonVariants()}>
            Sign in
          </Link>
          <a href="/docs" className={buttonVariants({ variant: "outline" })}>
            API reference
          </a>
        </div>
        <section aria-labelledby="first-cost" className="mt-14">
          <h2 id="first-cost" className="font-medium text-base">
            Record a cost
          </h2>
          <p className="mt-1 mb-4 text-muted-foreground text-sm">
            Put an API key into <code className="font-mono">OUTLAY_API_KEY</code> (
            <code className="font-mono">npm start</code> prints a demo key) and send what was used. The answer
            contains the cost.
          </p>
          {curl ? <CodeBlock code={curl.code} language={curl.language} title="curl" /> : null}
        </section>
        <ul className="mt-12 divide-y border-y">
          {addresses.map(({ href, label, about }) => (
            <li key={href}>
              <a
                href={href}
                className="grid items-baseline gap-x-6 py-3 text-sm hover:bg-muted sm:grid-cols-[11rem_1fr_auto] sm:px-2"
              >
                <span className="font-medium">{label}</span>
                <span className="text-muted-foreground">{about}</span>
                <code className="hidden font-mono text-[13px] text-muted-foreground sm:block">{href}</code>
              </a>
            </li>
          ))}
        </ul>
      </main>
    </>
  );
}

async function Health() {
  const { checks, version } = await checkHealth();
  return <HealthLine checks={checks} version={version} />;
}

type Checks = Record<"database_readable" | "database_writable", "ok" | "failing">;

/** The health of the service as a sentence with an icon, and its version. */
function HealthLine({ checks, version }: { checks: Checks; version: string }) {
  const { database_readable: readable, database_writable: writable } = checks;
  const isHealthy = readable === "ok" && writable === "ok";
  const Icon = isHealthy ? CircleCheck : CircleAlert;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-sm">
      <Icon className={cn("size-4", isHealthy ? "text-success" : "text-warning")} aria-hidden="true" />
      {statusText(checks)}
      <span className="text-muted-foreground">Version {version}</span>
    </p>
  );
}

function statusText({ database_readable: readable, database_writable: writable }: Checks): string {
  if (readable === "failing")
    return "The database does not answer. Recording and reading fail until it does.";
  if (writable === "failing") return "The database cannot be written to. Recording fails until it can.";
  return "The service is healthy.";
}

/** Placeholder of the same size while the health is checked. */
function HealthLineSkeleton() {
  return (
    <p className="flex min-h-6 items-center gap-2 text-muted-foreground text-sm">
      <span className="size-4 animate-pulse rounded-full bg-accent" aria-hidden="true" />
      Checking the service
    </p>
  );
}
