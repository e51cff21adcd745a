/** The sizes of model families, largest first, as their names have them. */
const sizes = [
  ["opus", "sonnet", "haiku"],
  ["pro", "flash", "flash-lite"],
  ["large", "medium", "small"],
] as const;

/** OpenAI names its largest models by their version alone: `gpt-5`, `gpt-5-mini`, `gpt-5-nano`. */
const openAiName = /^((?:gpt-|o)\d[\d.]*o?)(-mini)?(?:-\d{4}-\d{2}-\d{2})?$/;

const dated = /[-@]\d{8}$/;

/**
 * The names that smaller models of a model's family and generation would have, the next smaller first. Whether they exist, the
 * catalogue says.
 */
export function smallerModels(model: string): string[] {
  const openAi = openAiName.exec(model);
  if (openAi?.[1]) return (openAi[2] ? ["-nano"] : ["-mini", "-nano"]).map((size) => openAi[1] + size);
  for (const family of sizes) {
    const at = family.findLastIndex((size) => new RegExp(`-${size}(?=-|$)`).test(model));
    if (at === -1) continue;
    return family
      .slice(at + 1)
      .map((size) => model.replace(`-${family[at]}`, `-${size}`))
      .flatMap((name) => (dated.test(name) ? [name, name.replace(dated, "")] : [name]));
  }
  return [];
}
