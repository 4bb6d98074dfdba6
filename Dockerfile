# The command in a small image, without root:
#   docker build -t warehouse .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/data" warehouse ingest results/
# The store is warehouse.duckdb in the folder that is mounted, unless WAREHOUSE_URL names another.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
# Extras of the package, with commas between: remote, fast, mlflow, otel ...
ARG EXTRAS=remote
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY warehouse warehouse
COPY cli cli
COPY migrations migrations
COPY queries queries
COPY docs/mappings docs/mappings
RUN python -m venv /opt/warehouse \
    && /opt/warehouse/bin/pip install --no-cache-dir ".[${EXTRAS}]"

FROM python:${PYTHON}-slim
COPY --from=build /opt/warehouse /opt/warehouse
# Any user may run it: what is compiled and fetched goes to /tmp, not to a home folder.
ENV PATH=/opt/warehouse/bin:$PATH \
    NUMBA_CACHE_DIR=/tmp/numba
RUN useradd --system --uid 10001 --no-create-home --home-dir /data warehouse \
    && mkdir /data \
    && chown warehouse /data
USER 10001
WORKDIR /data
ENTRYPOINT ["warehouse"]
CMD ["--help"]
