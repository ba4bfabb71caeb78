ARG BASE_IMAGE=python:3.14.7-slim-trixie@sha256:51dafde81dbdb6ebde285137a295cf18a47ca95234fe388a343719cb97305b3d

FROM ${BASE_IMAGE} AS build
# uv installs in a tenth of the time that pip takes.
COPY requirements-uv.lock requirements-image.lock /build/
RUN python3 -m venv /opt/uv \
 && /opt/uv/bin/pip install --no-cache-dir --disable-pip-version-check --no-compile --require-hashes -r /build/requirements-uv.lock \
 && python3 -m venv --without-pip /opt/runevals \
 && /opt/uv/bin/uv pip install --no-cache --quiet --python /opt/runevals/bin/python3 --require-hashes -r /build/requirements-image.lock
# Smaller by a sixth: no symbols of debuggers, no tests and types, no words of languages to highlight, and of AWS the one
# service that we ask for a role.
# hadolint ignore=DL3008
RUN apt-get update -q \
 && apt-get install -q -y --no-install-recommends binutils \
 && find /opt/runevals -name '*.so' -exec strip --strip-unneeded {} + \
 && find /opt/runevals/lib/python3*/site-packages/botocore/data -mindepth 1 -maxdepth 1 -type d ! -name sts -exec rm -r {} + \
 && find /opt/runevals/lib/python3*/site-packages -mindepth 2 -maxdepth 2 -type d -name tests -exec rm -r {} + \
 && find /opt/runevals/lib/python3*/site-packages/pygments/lexers -name '_*_builtins.py' -delete \
 && find /opt/runevals -name '*.py[ix]' -delete \
 && rm -rf /var/lib/apt/lists/*
# What builds our wheel is named by hash too: it could write into the wheel.
COPY requirements-build.lock /build/
RUN python3 -m venv --without-pip /opt/backend \
 && /opt/uv/bin/uv pip install --no-cache --quiet --python /opt/backend/bin/python3 --require-hashes -r /build/requirements-build.lock
# Later no lists of files, which only pip reads, and no lock of uv, which everybody may write.
COPY pyproject.toml README.md LICENSE /build/
COPY src /build/src
RUN /opt/uv/bin/uv build --wheel --no-cache --quiet --python /opt/backend/bin/python3 --no-build-isolation --out-dir /wheel /build \
 && /opt/uv/bin/uv pip install --no-cache --quiet --python /opt/runevals/bin/python3 --no-deps /wheel/*.whl \
 && find /opt/runevals/lib -path '*.dist-info/RECORD' -delete \
 && rm /opt/runevals/.lock \
 && /opt/runevals/bin/python3 -m compileall -q -j 0 /opt/runevals

# A release publishes the very wheel that its image has: docker build --target wheel --output dist .
FROM scratch AS wheel
COPY --from=build /wheel /

FROM ${BASE_IMAGE}
# git: the base's settings, suites and code are read from its commit. The workspace belongs to another user.
# /run: the runner mounts the socket of its container engine there; programs under test are not root.
# hadolint ignore=DL3008
RUN apt-get update -q \
 && apt-get install -q -y --no-install-recommends git \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && git config --system --add safe.directory '*' \
 && chmod 0700 /run
# The base image has no bytecode of the standard library: every program in Python would compile what it imports.
RUN python3 -m compileall -q -j 0 -x "/(test|tests|idlelib|lib2to3|tkinter|turtledemo|ensurepip|pydoc_data|(site|dist)-packages)/" \
    "$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
COPY --from=build /opt/runevals /opt/runevals
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 RUNEVALS_IN_CONTAINER=1
# -I: a PYTHONPATH is for programs under test; what it leads to, a change may have written.
ENTRYPOINT ["/opt/runevals/bin/python3", "-I", "-B", "-u", "-m", "runevals", "action"]
