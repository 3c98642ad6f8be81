# The HTTP API (`agent-memory serve`) over a store file in the volume /data:
#
#   docker build -t agent-memory .
#   docker run -p 8900:8900 -v memory:/data -e AGENT_MEMORY_API_KEYS="$(cat keys.json)" agent-memory
#
# `agent-memory api-key` makes the keys. Without keys or an issuer of tokens the server does not start: it listens on
# all addresses of the container, and anybody could ask. For Cosmos DB instead of a file, set its variables and add
# `--from-env` to the command.
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY prompts prompts
COPY samples/conversations samples/conversations
COPY sdk sdk
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . ./sdk/embedded_cosmos

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --find-links /wheels 'durable-agent-memory[local,cli,server,openai,azure]' \
    && rm -rf /wheels \
    && useradd --create-home --uid 10001 memory \
    && install -d -o memory /data
USER memory
VOLUME /data
EXPOSE 8900
HEALTHCHECK --start-period=60s CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8900/health')"
ENTRYPOINT ["agent-memory", "serve"]
CMD ["--host", "0.0.0.0", "--port", "8900", "--store", "/data/memory.db"]
