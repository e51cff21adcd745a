/** What a call asks for, as far as the mock heeds it. */
export type Asked = {
  model: string;
  stream?: boolean;
  background?: boolean;
  service_tier?: string;
  speed?: string;
  tools?: unknown[];
  stream_options?: { include_usage?: boolean };
  input?: string | string[];
};
