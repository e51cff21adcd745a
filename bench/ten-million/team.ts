import { seededRandom } from "@/lib/ledger/demo/random";

/** Models as clients name them, each with its provider, the most used first. The last one has no price. */
const models = [
  ["openai", "gpt-4o-mini"],
  ["anthropic", "claude-sonnet-4-5"],
  ["openai", "gpt-4o"],
  ["google", "gemini-2.5-flash"],
  ["openai", "text-embedding-3-small"],
  ["anthropic", "claude-haiku-4-5"],
  ["openai", "gpt-4.1-mini"],
  ["openai", "gpt-5"],
  ["google", "gemini-2.5-pro"],
  ["anthropic", "claude-opus-4-1"],
  ["openai", "gpt-5-mini"],
  ["openai", "gpt-4.1"],
  ["anthropic", "claude-3-5-sonnet-latest"],
  ["mistral", "mistral-large-latest"],
  ["openai", "o4-mini"],
  ["openai", "o3"],
  ["google", "gemini-2.0-flash"],
  ["groq", "llama-3.3-70b-versatile"],
  ["mistral", "mistral-small-latest"],
  ["openai", "gpt-4.1-nano"],
  ["anthropic", "claude-3-5-haiku-latest"],
  ["google", "gemini-2.5-flash-lite"],
  ["deepseek", "deepseek-chat"],
  ["openai", "o3-mini"],
  ["mistral", "codestral-latest"],
  ["anthropic", "claude-opus-4"],
  ["openai", "text-embedding-3-large"],
  ["deepseek", "deepseek-reasoner"],
  ["google", "gemini-1.5-pro"],
  ["in-house", "ranker-7b"],
] as const;

/** The numbers of names that a team uses. */
const counts = { projects: 40, features: 40, keys: 20, workloads: 400, members: 100, departments: 8 };

/** A program of a team, with the fields that its messages share. `key` is an index in the list of keys. */
export type Workload = {
  project: string;
  key: number;
  feature: string;
  provider: string;
  model: string;
  unit: "input_tokens" | "output_tokens";
  tags: Record<string, string>;
  /** The member of the team whose program it is; undefined for a program that serves customers. */
  user?: string;
};

/** The names that a team uses, and its programs. `pick` chooses a program; a few send most of the messages. */
export type Team = {
  projects: string[];
  keyNames: string[];
  pick: (random: () => number) => Workload;
  /** A program of the same provider, for another line of a batch. */
  pickOf: (provider: string, random: () => number) => Workload;
};

/** Returns a function that chooses among `size` items, a few of them often (Zipf's law with this exponent). */
function skewed(size: number, exponent: number): (random: () => number) => number {
  const ends = new Float64Array(size);
  let sum = 0;
  for (let place = 0; place < size; place += 1) {
    sum += (place + 1) ** -exponent;
    ends[place] = sum;
  }
  return (random) => {
    const wanted = random() * sum;
    let [low, high] = [0, size - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/** Makes the names of a team: the same for the same seed. */
export function makeTeam(seed: number): Team {
  const random = seededRandom(seed);
  const projectOf = skewed(counts.projects, 1);
  const featureOf = skewed(counts.features, 0.8);
  const modelOf = skewed(models.length, 0.9);
  const keyOf = skewed(counts.keys, 0.8);
  const departmentOf = skewed(counts.departments, 0.5);
  const workloads = Array.from({ length: counts.workloads }, (): Workload => {
    const [provider, model] = models[modelOf(random)] ?? models[0];
    const isEmbedding = model.includes("embedding");
    return {
      project: `project-${projectOf(random) + 1}`,
      key: keyOf(random),
      feature: `feature-${featureOf(random) + 1}`,
      provider,
      model,
      unit: isEmbedding || random() < 0.6 ? "input_tokens" : "output_tokens",
      tags: { team: `team-${departmentOf(random) + 1}` },
      ...(random() < 0.5 && { user: `member-${Math.floor(random() * counts.members) + 1}` }),
    };
  });
  const byProvider = new Map<string, Workload[]>();
  for (const workload of workloads) {
    byProvider.set(workload.provider, [...(byProvider.get(workload.provider) ?? []), workload]);
  }
  const workloadOf = skewed(counts.workloads, 0.9);
  const first = workloads[0] as Workload;
  return {
    projects: Array.from({ length: counts.projects }, (_, index) => `project-${index + 1}`),
    keyNames: Array.from({ length: counts.keys }, (_, index) => `Key ${index + 1}`),
    pick: (random) => workloads[workloadOf(random)] ?? first,
    pickOf: (provider, random) => {
      const own = byProvider.get(provider) ?? [first];
      return own[Math.floor(random() * own.length)] ?? first;
    },
  };
}
