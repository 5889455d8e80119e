# leobench on a slim image: build with `docker build --tag leobench .`, run with
# `docker run --rm --volume "$PWD:/work" leobench run ka.toml`. Real time needs the options
# `--device /dev/net/tun --cap-add SYS_ADMIN --cap-add NET_ADMIN` as well; docs/howto/way-out.md has the rest.
ARG PYTHON=3.13
ARG RUST=1.95

FROM rust:${RUST}-slim-bookworm AS rust

# The wheel, with the Python that will run it. The compiler stays in this stage.
FROM python:${PYTHON}-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY --from=rust /usr/local/cargo /usr/local/cargo
COPY --from=rust /usr/local/rustup /usr/local/rustup
ENV PATH=/usr/local/cargo/bin:$PATH CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup
# The context has no repository: `docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD)` names the commit.
ARG COMMIT=""
ENV LEOBENCH_COMMIT=${COMMIT}
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim-bookworm
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels pip install --no-cache-dir /wheels/*.whl
# A way out of emulated networks translates addresses; routers and shapers use the others.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends nftables iproute2 iputils-ping curl \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["leobench"]
CMD ["--help"]
