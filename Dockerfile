# Tara in a container, by the README's own commands:
#
#   docker build -t tara .
#   docker run --rm -it -v "$PWD/runs:/tara/runs" tara train configs/quickstart.textproto
#   docker run --rm -it tara play
#   docker run --rm -it --network host tara web   # builds the page first

FROM debian:trixie AS system
RUN apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates git && \
    rm -rf /var/lib/apt/lists/*

FROM system
WORKDIR /tara
COPY . .
# Installs packages and builds; then shows that the program runs.
RUN bin/tara variants
ENTRYPOINT ["bin/tara"]
CMD ["--help"]
