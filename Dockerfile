# The image needs a Postgres beside it (POSTGRES_URL); compose.yaml brings one.
# Steps that matter are tried without Docker by scripts/try-container.sh: keep the two alike.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && node scripts/collect-runtime.mjs /runtime

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=build --chown=root:root /runtime ./
# The account comes with the image. It owns nothing of the service and needs to write nothing.
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health`).then(r => r.json()).then(b => process.exit(b.status === 'ok' ? 0 : 1), () => process.exit(1))"]
# A larger young generation: fewer requests under way are copied by the garbage collector (docs/decisions/0014-record-calls-in-groups.md).
ENTRYPOINT ["node", "--max-semi-space-size=32", "scripts/run-built.mjs"]
