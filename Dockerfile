# syntax=docker/dockerfile:1
# By digest where it is given (docs/guide/operations.md).
ARG NODE_IMAGE=node:22-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run --silent build

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 8787
# Of a gateway; a worker has no page to ask.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.UNITY_BROKER_PORT || 8787}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# In exec form: SIGTERM reaches the broker itself, which answers open waits before it ends.
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["gateway"]
