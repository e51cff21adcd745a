import type { Language } from "@/components/ui/highlight";

/** A snippet for a source's setup. `title` says where to paste it, or how to run it. */
export type SetupBlock = { title: string; language: Language; code: string };

/** The instructions to set up a program: `steps` before the blocks, `note` after them. */
export type Setup = { steps: string; blocks: SetupBlock[]; note?: string };

/** What instructions need: the address of the service, the key's secret and id, and its project if it has exactly one. */
export type SetupContext = { url: string; secret: string; keyId: string; project: string | undefined };

/** A program that can be a source, and how it is set up. */
export type Program = {
  label: string;
  description: string;
  /** The default name of a new source. */
  name: string;
  /** The subscriptions that may cover its usage. */
  subscriptions?: string;
  /** What it does not report, and how inaccurate amounts from the price list can therefore be. */
  unreported?: string;
  /** Whether it sends from its provider's servers, which cannot reach a local address. */
  isHosted?: true;
  setup: (context: SetupContext) => Setup;
};

/** Settings as JSON with line breaks. */
export const toJson = (value: unknown) => JSON.stringify(value, null, 2);

/** The lines of a shell that export variables. */
export const exportLines = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}="${value}"`)
    .join("\n");

/** The variables by which an OpenTelemetry exporter sends to this service. */
export const otlp = ({ url, secret }: SetupContext) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/api/otlp`,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
  OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${secret}`,
});

/** The note on how to name projects; undefined for a key of one project. */
export const attributes = ({ project }: SetupContext) =>
  project === undefined
    ? "To name the project of each program, set OTEL_RESOURCE_ATTRIBUTES=project=<slug>, or choose another attribute in the settings of the source."
    : undefined;

/** Adds a note to instructions, if there is one. */
export const withNote = (setup: Setup, note: string | undefined): Setup =>
  note === undefined ? setup : { ...setup, note };
