FROM python:3.12-slim

RUN pip install --no-cache-dir uv \
    && useradd --system --create-home --home-dir /var/lib/brain brain

WORKDIR /app
COPY pyproject.toml README.md ./
RUN uv sync --no-dev --no-install-project --no-cache
COPY app app
COPY frontend frontend
COPY migrations migrations
RUN uv sync --no-dev --no-cache

ENV PATH=/app/.venv/bin:$PATH \
    BOR_DATA_DIR=/var/lib/brain \
    BOR_HOST=0.0.0.0
USER brain
VOLUME /var/lib/brain
EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]

# Beyond loopback Brain serves only with tokens: set BOR_EDITOR_TOKENS.
CMD ["bor", "serve"]
