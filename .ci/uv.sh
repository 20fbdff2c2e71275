# Sourced by ./bor and ./validate.sh with $here set: sets $uv, bringing uv into .uv/ where it lacks.

if uv --version >/dev/null 2>&1; then
    uv=uv
else
    uv=$here/.uv/bin/uv
    if ! "$uv" --version >/dev/null 2>&1; then
        echo "Bringing uv, which brings everything else …" >&2
        { python3 -m venv --clear "$here/.uv" && "$here/.uv/bin/pip" install --quiet uv; } \
            >/dev/null 2>&1 ||
            python3 -m pip install --quiet --upgrade --target "$here/.uv" uv >/dev/null 2>&1 || {
            echo "uv cannot be installed: it needs Python 3.11 with venv or pip, and the network;" \
                "or install uv yourself and start again." >&2
            exit 1
        }
    fi
fi

# Another activated environment is not ours.
unset VIRTUAL_ENV
export UV_PROJECT_ENVIRONMENT="$here/.venv"
