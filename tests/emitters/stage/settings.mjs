/** The variables of OpenTelemetry for a program that tells the service. @param encoding json or protobuf */
export const otlpSettings = (source, encoding) => ({
  ENCODING: encoding,
  OTEL_SERVICE_NAME: "shop",
  OTEL_EXPORTER_OTLP_PROTOCOL: `http/${encoding}`,
  OTEL_EXPORTER_OTLP_ENDPOINT: source.otlp,
  OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer ${source.key}`,
});
