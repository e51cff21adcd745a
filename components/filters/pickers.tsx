import { SegmentedLinks } from "@/components/ui/segmented-control";
import { hrefWith, type SearchParams } from "./href";

type Props = { path: string; params: SearchParams; className?: string };

/** Links that choose live or test data, which is the parameter `environment` of the address; by default live. */
export function EnvironmentSwitch({ path, params, className }: Props) {
  const isTest = params.environment === "test";
  return (
    <SegmentedLinks
      label="Environment"
      {...(className && { className })}
      options={[
        { label: "Live", href: hrefWith(path, params, { environment: undefined }), current: !isTest },
        { label: "Test", href: hrefWith(path, params, { environment: "test" }), current: isTest },
      ]}
    />
  );
}
