module.exports = {
  outlay: {
    input: "./generated/openapi.json",
    output: {
      target: "./generated/orval.ts",
      client: "fetch",
      mode: "single",
      baseUrl: process.env.OUTLAY_URL,
    },
  },
};
