#!/bin/sh
# Creates the secrets of compose.yaml: .env from env.example with random values, a file with the token for Prometheus,
# and an empty sources.env. It does not change an existing .env or sources.env.
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
      # nats-server reads a value that begins with a digit as a number.
      *=change-me) echo "${line%change-me}p$(random 24)" ;;
      *) echo "$line" ;;
    esac
  done < env.example > .env.new
  mv .env.new .env
  echo "created .env: keep a copy of MASTER_KEY elsewhere; without it, the stored secrets cannot be read"
fi
mkdir -p secrets
sed -n 's/^OPERATIONS_TOKEN=//p' .env | tr -d '\n' > secrets/operations_token
# Prometheus runs as another user, so the file must be readable; the mode of the directory keeps other users of this
# machine out.
chmod 644 secrets/operations_token
[ -e sources.env ] || echo '# SOURCE_… and AI_… settings, one NAME=value a line: npm run -s config lists them' > sources.env
