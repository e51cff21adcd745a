import type { DocsField, Variant } from "./fields";
import { Fold, InlineCode, TextLink, TextWithCode } from "./text";

/** The fields of a request or an answer. A request marks required fields, an answer fields that may be absent. */
export function FieldList({ fields, kind }: { fields: DocsField[]; kind: "request" | "response" }) {
  return (
    // The list sets the padding of its rows: a page has hundreds of them.
    <ul className="divide-y rounded-lg border *:px-3.5 *:py-2.5">
      {fields.map((field) => (
        <li key={field.name}>
          <FieldRow field={field} kind={kind} />
        </li>
      ))}
    </ul>
  );
}

function FieldRow({ field, kind }: { field: DocsField; kind: "request" | "response" }) {
  const { description, values, limits, fields, variants, see } = field;
  // Values that the description names are not listed again.
  const listed = values.filter((value) => !description?.includes(`\`${value}\``));
  const facts = [...limits, ...(field.default === undefined ? [] : [`default \`${field.default}\``])];
  return (
    <>
      <div className="field-head">
        <code className="field-name">{field.name}</code>
        <span className="field-type">{field.type}</span>
        {kind === "request" && field.required ? <span className="field-mark">required</span> : null}
        {kind === "response" && !field.required ? <span className="field-mark">may be absent</span> : null}
      </div>
      {description ? (
        <p className="mt-0.5 text-sm">
          <TextWithCode text={description} />
        </p>
      ) : null}
      {listed.length > 0 ? (
        <p className="mt-1 flex flex-wrap items-center gap-1.5 text-[13px] text-muted-foreground">
          One of
          {values.map((value) => (
            <InlineCode key={value}>{value}</InlineCode>
          ))}
        </p>
      ) : null}
      {facts.length > 0 ? (
        <p className="field-facts">
          <TextWithCode text={facts.join(" · ")} />
        </p>
      ) : null}
      {see ? (
        <p className="mt-0.5 text-sm">
          See <TextLink {...see} />.
        </p>
      ) : null}
      {fields.length > 0 ? (
        <Fold title={`${fields.length} ${fields.length === 1 ? "field" : "fields"}`}>
          <FieldList fields={fields} kind={kind} />
        </Fold>
      ) : null}
      {variants.length > 0 ? <VariantList variants={variants} kind={kind} /> : null}
    </>
  );
}

/** Alternatives, each with its fields; the first is unfolded. */
export function VariantList({ variants, kind }: { variants: Variant[]; kind: "request" | "response" }) {
  return (
    <div className="mt-2 space-y-2">
      {variants.map((variant, index) => (
        <Fold key={variant.name} title={variant.name} mono open={index === 0}>
          {variant.description ? (
            <p className="mb-2 text-muted-foreground text-sm">
              <TextWithCode text={variant.description} />
            </p>
          ) : null}
          {variant.fields.length > 0 ? (
            <FieldList fields={variant.fields} kind={kind} />
          ) : (
            <p className="text-muted-foreground text-sm">No other fields.</p>
          )}
        </Fold>
      ))}
    </div>
  );
}
