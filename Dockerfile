# RunLens as a command in a container that needs no rights and no network:
#   docker build -t runlens .
#   docker run --rm --network none -u "$(id -u):$(id -g)" -v "$PWD:/runs" runlens diagnose my-run
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY runlens ./runlens
RUN python -m venv /opt/runlens \
    && /opt/runlens/bin/pip install --no-cache-dir --disable-pip-version-check . \
    && /opt/runlens/bin/pip uninstall --yes --disable-pip-version-check pip

FROM python:3.13-slim
LABEL org.opencontainers.image.title="RunLens" \
      org.opencontainers.image.description="Says what went wrong in a training run" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/runlens /opt/runlens
ENV PATH="/opt/runlens/bin:$PATH" \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/tmp/cache
RUN useradd --create-home --uid 1000 runlens
USER 1000
WORKDIR /runs
ENTRYPOINT ["runlens"]
CMD ["--help"]
