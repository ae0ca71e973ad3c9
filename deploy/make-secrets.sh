#!/bin/sh
# Makes the secrets of compose.yaml, once: .env from env.example with random values, the token's file for Prometheus,
# and an empty sources.env. What is there already is left as it is.
set -eu
cd "$(dirname "$0")"
umask 077

random() {
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

if [ ! -e .env ]; then
  while IFS= read -r line; do
    case $line in
      MASTER_KEY=change-me) echo "MASTER_KEY=$(random 32)" ;;
      # nats-server takes a value that begins with a digit for a number.
      *=change-me) echo "${line%change-me}p$(random 24)" ;;
      *) echo "$line" ;;
    esac
  done < env.example > .env.new
  mv .env.new .env
  echo "made .env: keep a copy of MASTER_KEY elsewhere, without it the signing secrets cannot be read"
fi
mkdir -p secrets
sed -n 's/^OPERATIONS_TOKEN=//p' .env | tr -d '\n' > secrets/operations_token
# Prometheus runs as another user and sees the file alone; on this machine the directory keeps others out.
chmod 644 secrets/operations_token
[ -e sources.env ] || echo '# SOURCE_… and AI_… settings, one NAME=value a line: npm run -s config lists them' > sources.env
